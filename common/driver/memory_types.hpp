// The memory types at the ends of a copy, and the resulting direction.
#pragma once

#include "common/driver/driver.hpp"

namespace stepwise::driver {

// `either` means that the address decides.
enum class memory_place { host, device, either, unknown };

// Returns `unknown` for arrays, too.
inline memory_place place_of(CUmemorytype type) {
  switch (runtime::number_of(type)) {
    case CU_MEMORYTYPE_HOST:
      return memory_place::host;
    case CU_MEMORYTYPE_DEVICE:
      return memory_place::device;
    case CU_MEMORYTYPE_UNIFIED:
      return memory_place::either;
    default:
      return memory_place::unknown;
  }
}

inline bool is_array(CUmemorytype type) { return runtime::number_of(type) == CU_MEMORYTYPE_ARRAY; }

inline cudaMemcpyKind direction_between(memory_place to, memory_place from) {
  if (to == memory_place::either || from == memory_place::either) return cudaMemcpyDefault;
  if (to == memory_place::device)
    return from == memory_place::device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from == memory_place::device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

}  // namespace stepwise::driver
