// How many blocks of a kernel one multiprocessor holds at once.
//
// source  NVIDIA's own calculator, cuda_occupancy.h of the CUDA toolkit, which works without a GPU.
// tests   tests/rules_test.cpp
#pragma once

#include "common/device/device.hpp"

namespace stepwise {

struct occupancy {
  int blocks = 0;  // resident per multiprocessor; 0 if even one does not fit
  // What keeps it from being more.
  bool by_warps = false, by_registers = false, by_shared = false, by_blocks = false;
};

// invalid_value for a block of 0 threads or more than the GPU allows; not_supported if this build
// had no cuda_occupancy.h.
result<occupancy> resident_blocks(const gpu& model, const kernel_attributes& kernel,
                                  std::uint64_t threads_per_block,
                                  std::uint64_t dynamic_shared_bytes);

// The dynamic shared memory per block that leaves room for `blocks` blocks on a multiprocessor, as
// cudaOccupancyAvailableDynamicSMemPerBlock tells it: without what the system reserves per block.
// invalid_value if so many blocks do not fit even without any.
result<std::uint64_t> available_dynamic_shared(const gpu& model, const kernel_attributes& kernel,
                                               int blocks, std::uint64_t threads_per_block);

}  // namespace stepwise
