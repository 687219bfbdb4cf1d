// The cost of one call: time on a GPU, counted work on the emulator.
//
// idea    The emulator's clock is unrelated to a GPU's. Without a GPU, figures count the work that
//         is executed and moved, and are marked as such. Times are modelled separately
//         (model/modelled.hpp).
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

// Work per time, in the unit of its limit: "4312 GB/s" or "52.4 TFLOP/s".
std::string rate_text(const problem_work& work, double time_ms);

struct figures {
  call_outcome found;  // the call; the rest is empty unless it is ok
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

// The size whose time is modelled for this GPU. It is the lab's last size or, if a grid with one
// warp per 32 elements would be too long for the GPU, the lab's largest size that fits.
lab_size modelled_size(const lab& l, const gpu& emulated_gpu);

// On a GPU, makes warm-up calls and timed calls with a cold L2 cache. On the emulator, makes one
// counted call. Checks the last call's result.
figures measure_program(const lab& l, const problem& p, const std::filesystem::path& program,
                        const device_choice& device, const lab_size& size, std::uint64_t seed,
                        const activity& now);

}  // namespace stepwise
