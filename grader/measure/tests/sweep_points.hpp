// Points of a sweep with made-up counts and times.
#pragma once

#include <string>
#include <vector>

#include "grader/judge/tests/doubling.hpp"
#include "grader/measure/sweep_summary.hpp"

namespace stepwise::tests {

// A correct point with one kernel, as the emulator would count it.
inline sweep_point counted(const std::vector<std::string>& values, std::uint32_t grid,
                           std::uint32_t block, int resident_warps, std::uint64_t instructions) {
  sweep_point point;
  point.values = values;
  point.size = point.counted_size = {1000};
  point.label = "n = 1000";
  point.work = point.counted_work = doubling().work(point.size);
  kernel_profile kernel;
  kernel.kernel = "k";
  kernel.grid = {grid, 1, 1};
  kernel.block = {block, 1, 1};
  kernel.registers = 20;
  kernel.resident_warps = resident_warps;
  kernel.most_warps = 64;
  kernel.fits.blocks = 1;
  kernel.fits.by_blocks = resident_warps < 64;
  kernel.fits.by_warps = resident_warps == 64;
  kernel.total.instructions[0] = {instructions, 32 * instructions};
  point.kernels = {kernel};
  return point;
}

inline sweep_point timed(const std::vector<std::string>& values, int resident_warps, double ms,
                         double spread = 0.001) {
  auto point = counted(values, 1000, 256, resident_warps, 100);
  point.time = {8, ms, {ms * (1 - spread), ms * (1 + spread)}};
  return point;
}

inline sweep_point modelled(const std::vector<std::string>& values, int resident_warps, double ms) {
  auto point = counted(values, 1000, 256, resident_warps, 100);
  point.modelled_ms = ms;
  return point;
}

inline swept_axis axis(const std::string& over) { return {parse_axis(over), axis_kind::constant}; }

}  // namespace stepwise::tests
