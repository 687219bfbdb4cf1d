// cudaDeviceProp of a described GPU.
//
// tests   tests/memory_test.cpp and, on a GPU, tests/query
#pragma once

#include <cuda_runtime_api.h>

#include "common/device/gpu.hpp"

namespace stepwise::runtime {

// As cudaGetDeviceProperties returns them, sizes in bytes.
cudaDeviceProp properties_of(const gpu& model);

}  // namespace stepwise::runtime
