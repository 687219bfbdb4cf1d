// One multiprocessor doing its blocks: warps that issue in order, wait for each other and for
// memory, cycle by cycle where something happens.
//
// idea    Zhang and Owens count what each part has to do and take the slowest; Volkov adds what
//         latency allows. Both come out of a small simulation: schedulers, pipes, the port to
//         memory, and queues whose rates are this multiprocessor's share of L2 and memory.
// watch   One multiprocessor represents all.
// source  Y. Zhang, J. Owens, HPCA 2011; V. Volkov, UC Berkeley 2016. Tested by
//         tests/time_test.cpp.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/emulator/time/code_costs.hpp"
#include "common/emulator/time/costs.hpp"
#include "common/emulator/time/launch_trace.hpp"
#include "common/emulator/time/memory_path.hpp"
#include "common/report/timing.hpp"

namespace stepwise::emulator {

struct multiprocessor_work {
  const launch_trace* trace = nullptr;
  const code_costs* code = nullptr;
  std::vector<site_rates> sites;
  memory_wishes memory;
  std::uint64_t l1_bytes = 0;
  unsigned resident = 1;      // blocks at a time
  unsigned active = 1;        // multiprocessors that have work
  bool equal_shares = false;  // all blocks of the launch are resident
  std::uint64_t blocks = 1;   // of this multiprocessor; those beyond the trace's are like them
};

struct multiprocessor_time {
  double cycles = 0;  // until everything has ended
  double slots = 0;   // machine instructions issued, of the traced blocks
  // Of the simulated cycles, as shares. Of DRAM: its bytes, of what its clock and width allow,
  // which is what ncu divides by; the queues know the rates that it reaches.
  double busy[busy_parts] = {};
  double simulated_cycles = 0;
  double warp_cycles = 0;             // over the simulated cycles, those of warps that were there
  std::vector<stall_cycles> stalled;  // by ordinal of the instruction that could not be issued
  std::vector<site_account> sites;    // of the traced blocks, as far as they are in the trace
  // Of dependencies: cycles by (ordinal << 32 | ordinal of what was waited for).
  std::unordered_map<std::uint64_t, double> waited_for;
};

// Runs the traced blocks through the simulation, in cycles of the GPU's clock; `cycles` counts all
// of `work.blocks`.
multiprocessor_time simulate(const multiprocessor_work& work, const gpu_costs& costs);

}  // namespace stepwise::emulator
