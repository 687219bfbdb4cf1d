// cudaDeviceProp of a described GPU.
//
// tests   tests/properties_test.cpp
#pragma once

#include <cuda_runtime_api.h>

#include "common/device/gpu.hpp"

namespace stepwise::runtime {

cudaDeviceProp properties_of(const gpu& model);

}  // namespace stepwise::runtime
