// hold_blocks(): limits a kernel's resident blocks per multiprocessor to those of another kernel.
//
// idea    An ablation of a kernel often needs fewer registers, so more of its blocks fit, and more
//         loads are in flight than in the original kernel. Unused dynamic shared memory takes up
//         the extra room.
// watch   Shared memory and L1 share their space, so this memory is not available to L1. The result
//         is therefore the smallest size that suffices.
// source  J. Filipovic, "Optimalizace" (2014), on measuring by modifying code.
// tested  labs/tests/limits_test.cpp checks that every ablation has the occupancy of its step
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "common/lab/check.hpp"

namespace stepwise {

// The bytes of dynamic shared memory with which at most `blocks` blocks of `threads` threads of
// `kernel` are resident on a multiprocessor of the current device; 0 if no more would fit anyway.
// The kernel must not use dynamic shared memory itself. hold_blocks() makes many runtime calls, so
// call it once: static const auto dynamic_bytes = hold_blocks(...).
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
  constexpr std::size_t granule = 128;  // allocation granularity in bytes
  for (std::size_t bytes = 0; bytes <= room; bytes += granule) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &fits, reinterpret_cast<const void*>(kernel), threads, bytes));
    if (fits <= blocks) return bytes;
  }
  return room;
}

}  // namespace stepwise

using stepwise::hold_blocks;  // host code of a lab writes hold_blocks(kernel, threads, blocks)
