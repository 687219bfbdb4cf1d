// Asks cuda_occupancy.h about a described GPU; where that header is missing, says so.
#include "common/device/occupancy.hpp"

#include "common/device/names.hpp"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define STEPWISE_HAS_OCCUPANCY 1
#endif

namespace stepwise {

#ifdef STEPWISE_HAS_OCCUPANCY
namespace {

cudaOccDeviceProp properties_of(const gpu& model) {
  cudaOccDeviceProp properties;
  properties.computeMajor = model.compute_major;
  properties.computeMinor = model.compute_minor;
  properties.maxThreadsPerBlock = model.max_threads_per_block;
  properties.maxThreadsPerMultiprocessor = model.max_threads_per_multiprocessor;
  properties.regsPerBlock = model.registers_per_block;
  properties.regsPerMultiprocessor = model.registers_per_multiprocessor;
  properties.warpSize = model.warp_size;
  properties.sharedMemPerBlock = model.shared_bytes_per_block;
  properties.sharedMemPerMultiprocessor = model.shared_bytes_per_multiprocessor;
  properties.numSms = model.multiprocessors;
  properties.sharedMemPerBlockOptin = model.shared_bytes_per_block_optin;
  properties.reservedSharedMemPerBlock = model.reserved_shared_bytes_per_block;
  return properties;
}

cudaOccFuncAttributes attributes_of(const gpu& model, const kernel_attributes& kernel) {
  cudaOccFuncAttributes attributes;
  // The runtime's answer on a GPU does not depend on launch bounds.
  attributes.maxThreadsPerBlock = model.max_threads_per_block;
  attributes.numRegs = kernel.registers;
  attributes.sharedSizeBytes = kernel.static_shared_bytes;
  attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = kernel.max_dynamic_shared_bytes;
  attributes.numBlockBarriers = 1;
  return attributes;
}

status check_threads(const gpu& model, const kernel_attributes& kernel, std::uint64_t threads) {
  if (threads >= 1 && threads <= static_cast<std::uint64_t>(model.max_threads_per_block)) return {};
  return {error::invalid_value, readable_name(kernel.name) + ": " + std::to_string(threads) +
                                    " threads per block: 1 to " +
                                    std::to_string(model.max_threads_per_block) + " are possible"};
}

status status_of(cudaOccError code, const gpu& model, const kernel_attributes& kernel) {
  if (code == CUDA_OCC_SUCCESS) return {};
  if (code == CUDA_OCC_ERROR_UNKNOWN_DEVICE) {
    return {error::not_supported, "this build's cuda_occupancy.h does not know " + model.name};
  }
  return {error::invalid_value,
          readable_name(kernel.name) + ": cuda_occupancy.h knows no such blocks of it"};
}

}  // namespace

result<occupancy> resident_blocks(const gpu& model, const kernel_attributes& kernel,
                                  std::uint64_t threads_per_block,
                                  std::uint64_t dynamic_shared_bytes) {
  if (status bad = check_threads(model, kernel, threads_per_block); !bad.ok()) return bad;
  const cudaOccDeviceProp properties = properties_of(model);
  const cudaOccFuncAttributes attributes = attributes_of(model, kernel);
  const cudaOccDeviceState state;
  cudaOccResult found{};
  const cudaOccError code = cudaOccMaxActiveBlocksPerMultiprocessor(
      &found, &properties, &attributes, &state, static_cast<int>(threads_per_block),
      dynamic_shared_bytes);
  if (status failed = status_of(code, model, kernel); !failed.ok()) return failed;
  occupancy answer;
  answer.blocks = found.activeBlocksPerMultiprocessor;
  answer.by_warps = found.limitingFactors & OCC_LIMIT_WARPS;
  answer.by_registers = found.limitingFactors & OCC_LIMIT_REGISTERS;
  answer.by_shared = found.limitingFactors & OCC_LIMIT_SHARED_MEMORY;
  answer.by_blocks = found.limitingFactors & OCC_LIMIT_BLOCKS;
  return answer;
}

result<std::uint64_t> available_dynamic_shared(const gpu& model, const kernel_attributes& kernel,
                                               int blocks, std::uint64_t threads_per_block) {
  if (status bad = check_threads(model, kernel, threads_per_block); !bad.ok()) return bad;
  const cudaOccDeviceProp properties = properties_of(model);
  const cudaOccFuncAttributes attributes = attributes_of(model, kernel);
  const cudaOccDeviceState state;
  std::size_t bytes = 0;
  const cudaOccError code = cudaOccAvailableDynamicSMemPerBlock(
      &bytes, &properties, &attributes, &state, blocks, static_cast<int>(threads_per_block));
  if (status failed = status_of(code, model, kernel); !failed.ok()) return failed;
  return std::uint64_t{bytes};
}

#else

result<occupancy> resident_blocks(const gpu&, const kernel_attributes&, std::uint64_t,
                                  std::uint64_t) {
  return {error::not_supported, "this build had no cuda_occupancy.h of the CUDA toolkit"};
}

result<std::uint64_t> available_dynamic_shared(const gpu&, const kernel_attributes&, int,
                                               std::uint64_t) {
  return {error::not_supported, "this build had no cuda_occupancy.h of the CUDA toolkit"};
}

#endif

}  // namespace stepwise
