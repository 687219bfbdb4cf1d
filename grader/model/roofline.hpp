// Rooflines: a kernel's work per second over its work per byte or sector.
//
// source  S. Williams, A. Waterman, D. Patterson, "Roofline" (2009); N. Ding, S. Williams, "An
//         Instruction Roofline Model for GPUs" (2019): warp instructions over transactions of 32
//         bytes, at each level.
// Tested by tests/roofline_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "grader/model/analysis.hpp"

namespace stepwise {

// The GPU's peaks per second. 0: unknown.
struct machine_peaks {
  double flops = 0;          // float, a multiply-add is two
  double instructions = 0;   // warp instructions
  double l1_pipe_bytes = 0;  // L1 and shared memory of all multiprocessors
  double l2_bytes = 0, dram_bytes = 0;
};

struct roof {
  std::string name;  // "DRAM 4568 GB/s"
  double slope = 0;  // y per unit of x
};

struct roofline_point {
  std::string name;  // "DRAM"
  double x = 0, y = 0;
};

struct roofline {
  std::string title, x_unit, y_unit;
  std::string peak_name;
  double peak = 0;  // limit of y
  std::vector<roof> roofs;
  std::vector<roofline_point> points;

  // The highest y at x, under the peak and under roof `n`.
  double ceiling(std::size_t n, double x) const;
};

// The roofline of a call that does `operations` (the work that every algorithm must do) in `us`.
// `kernels` have the bytes that they move at DRAM and L2.
roofline operations_roofline(const std::vector<kernel_profile>& kernels, double operations,
                             const std::string& operation_unit, const machine_peaks& peaks);
// The roofline of one kernel, at each level that the kernel uses.
roofline instruction_roofline(const kernel_analysis& a, const machine_peaks& peaks);

}  // namespace stepwise
