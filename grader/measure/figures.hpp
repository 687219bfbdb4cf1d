// What one call costs: time on a GPU, counted work on the emulator.
//
// idea    The emulator's clock says nothing about a GPU's: without one, figures are what was
//         executed and moved, and say so; times are modelled apart (model/modelled.hpp).
// Tested by judge/tests/session_test.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/device/gpu.hpp"
#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"
#include "grader/measure/statistics.hpp"

namespace stepwise {

// Work per time, in what limits it: "4312 GB/s" or "52.4 TFLOP/s".
std::string rate_text(const problem_work& work, double time_ms);

struct figures {
  call_outcome found;  // of the call itself; the rest is empty unless it is ok
  lab_size size;
  std::string label;  // "n = 1048576, seed 7"
  problem_work work;
  std::size_t samples = 0;  // timed calls; 0: no time
  double time_ms = 0;       // median
  interval time_range_ms;   // 95 % interval of the median
  std::optional<runner::counter_record> counters;
  std::string printed;

  bool timed() const { return samples > 0; }
  double gb_per_s() const { return time_ms > 0 ? work.bytes / time_ms / 1e6 : 0; }
  std::string rate() const { return rate_text(work, time_ms); }
  double global_bytes() const;  // loaded and stored; 0 without counters
};

// The largest size for figures on this device, unless `wanted` is given.
lab_size figure_size(const lab& l, const device_choice& device,
                     const std::optional<lab_size>& wanted);

// The size whose time is modelled for this GPU: the lab's last one, or, where a grid of one warp
// for every 32 elements would be too long for the GPU, the largest of the lab's that is not.
lab_size modelled_size(const lab& l, const gpu& emulated_gpu);

// Makes warm-up calls and timed calls with a cold L2 cache (on a GPU), or one counted call (on the
// emulator), and checks the last one's result.
figures measure_program(const lab& l, const problem& p, const std::filesystem::path& program,
                        const device_choice& device, const lab_size& size, std::uint64_t seed,
                        const activity& now);

}  // namespace stepwise
