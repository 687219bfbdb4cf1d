// cudaDeviceProp of a described GPU.
//
// tests   tests/memory_test.cpp and, on a GPU, tests/query
#pragma once

#include <cuda_runtime_api.h>

#include "common/device/gpu.hpp"

namespace stepwise::runtime {

// The result of cudaGetDeviceProperties. Sizes are in bytes.
cudaDeviceProp properties_of(const gpu& model);

}  // namespace stepwise::runtime
