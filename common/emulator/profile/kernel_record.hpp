// The counters of a kernel in one launch configuration, before they are summed by source line.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/emulator/profile/profiler.hpp"

namespace stepwise::emulator {

// The counters of one memory instruction, for each memory that its addresses may lead to.
struct profiler::site_counts {
  sector_counts global, local, constant;
  std::uint64_t global_before = 0, local_before = 0;  // sectors of earlier launches
  wavefront_counts shared;
  wavefront_counts loop_loads;  // of an atomic that is a loop
  // The results of the last accesses to shared memory, by the position in a word of the first
  // lane's address. An access of the same shape has the same result if it lies a multiple of a
  // bank's width away.
  struct known_result {
    std::uint64_t shape = 0;       // its serial number; 0: none in this launch
    std::uint64_t from_shape = 0;  // of the addresses that a cp.async reads
    std::uint64_t at = 0, from = 0;
    std::uint32_t taken = 0, ideal = 0, repeated = 0;
    std::uint32_t sectors_again = 0;  // by a cp.async.cg
  };
  known_result known[4];
  std::uint64_t timed_bytes = 0;  // requested by lanes in a timed launch
};

// A kernel in one configuration.
struct profiler::record {
  const program* code = nullptr;
  std::size_t ops = 0;  // of the program; detects another program at the same address
  std::shared_ptr<const code_view> view;
  kernel_profile profile;
  std::vector<site_counts> sites;
  // By ordinal, with one extra entry: how many more warps (and lanes) execute this instruction than
  // execute the one before it.
  std::vector<std::uint64_t> warp_steps, lane_steps;
  std::vector<std::uint64_t> divergences;  // by ordinal
  // By ordinal, without the counts that finish() derives from warp_steps.
  std::vector<async_counts> async;
  // Results of the time model, by ordinal and by pair of ordinals (multiprocessor_time).
  std::vector<stall_cycles> stalled;
  std::unordered_map<std::uint64_t, double> waited_for;
};

}  // namespace stepwise::emulator
