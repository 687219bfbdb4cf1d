// The architecture whose code an emulated GPU runs.
//
// source  CUDA Toolkit 13.0 Release Notes: nvcc generates code for compute capability 7.5 and up.
// Tested by tests/gpu_test.cpp.
#pragma once

#include <algorithm>

#include "common/device/gpu.hpp"

namespace stepwise {

// The oldest compute capability that nvcc supports, in the form of gpu::compute_capability().
inline constexpr int oldest_code = 75;

// The GPU's own compute capability, or the oldest that the compiler supports. An older GPU runs
// that code within its own limits (threads, registers, shared memory, grid).
inline int code_capability(const gpu& model) {
  return std::max(model.compute_capability(), oldest_code);
}

}  // namespace stepwise
