// One multiprocessor running its blocks: warps issue in order, and wait for each other and for
// memory. Cycles in which nothing happens are skipped.
//
// idea    Zhang and Owens count the work of each part and take the slowest part; Volkov adds the
//         limits of latency. A small simulation yields both. It simulates the schedulers, the pipes
//         (including the one for L1 and shared memory), and queues with this multiprocessor's
//         fraction of the rates of L2 and memory.
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
  bool all_resident = false;  // all blocks of the launch are resident
  std::uint64_t blocks = 1;   // of this multiprocessor; those beyond the trace are alike
};

struct multiprocessor_time {
  double cycles = 0;  // until everything has ended
  double slots = 0;   // machine instructions issued, of the traced blocks
  // Shares of the simulated cycles. For DRAM: its bytes, relative to what its clock and width
  // allow, as in ncu; the queues use the rates that it reaches.
  double busy[busy_parts] = {};
  double simulated_cycles = 0;
  double warp_cycles = 0;             // sum over resident warps of simulated cycles
  std::vector<stall_cycles> stalled;  // by ordinal of the instruction that could not be issued
  std::vector<site_account> sites;    // of the traced blocks, as far as they are in the trace
  // For dependencies: cycles by (ordinal << 32 | ordinal of the producer).
  std::unordered_map<std::uint64_t, double> waited_for;
};

// Simulates the traced blocks, in cycles of the GPU's clock. `cycles` covers all of `work.blocks`.
multiprocessor_time simulate(const multiprocessor_work& work, const gpu_costs& costs);

}  // namespace stepwise::emulator
