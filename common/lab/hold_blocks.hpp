// hold_blocks(): keeps a kernel from having more blocks on a multiprocessor than another one has.
//
// idea    A kernel with work taken away often needs fewer registers, so more of its blocks fit, and
//         more loads are in flight than in the kernel that it is a yardstick for. Dynamic shared
//         memory that is never used occupies that room.
// watch   Shared memory and L1 share their space: what is asked for here, L1 does not have. So it
//         is the least that is enough.
// source  J. Filipovic, "Optimalizace" (2014): measuring by modifying code.
// tested  labs/tests/limits_test.cpp: the occupancy of every yardstick is its step's
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "common/lab/check.hpp"

namespace stepwise {

// The bytes of dynamic shared memory to launch `kernel` with, in blocks of `threads`, so that a
// multiprocessor of the current device holds `blocks` of them at most; 0 if it holds no more
// anyway. For a kernel without dynamic shared memory of its own. It asks the runtime many
// questions, so call it once: static const auto held = hold_blocks(...).
template <class... Parameters>
std::size_t hold_blocks(void (*kernel)(Parameters...), int threads, int blocks) {
  int device = 0, most = 0, fits = 0;
  cudaFuncAttributes of_kernel{};
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  check(cudaFuncGetAttributes(&of_kernel, reinterpret_cast<const void*>(kernel)));
  const std::size_t room = static_cast<std::size_t>(most) - of_kernel.sharedSizeBytes;
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(room)));
  constexpr std::size_t granule = 128;  // in which shared memory is allocated
  for (std::size_t bytes = 0; bytes <= room; bytes += granule) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &fits, reinterpret_cast<const void*>(kernel), threads, bytes));
    if (fits <= blocks) return bytes;
  }
  return room;
}

}  // namespace stepwise

using stepwise::hold_blocks;  // host code of a lab writes hold_blocks(kernel, threads, blocks)
