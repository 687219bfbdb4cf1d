// Tensors in global memory and boxes of them, for the programs about tensor copies: how a map is
// encoded, and a model of what a copy moves.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/emulator/tests/programs/program.hpp"

// A driver function, found as a program finds it that links only to the runtime.
template <class Function>
Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult outcome{};
  check(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &outcome));
  if (outcome != cudaDriverEntryPointSuccess || found == nullptr) {
    std::printf("the runtime does not find %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function>(found);
}

inline auto encode_tiled_function() {
  return driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
}

using bytes = std::vector<unsigned char>;

struct tensor_shape {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  unsigned element = 4;  // bytes
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint32_t> box;
  std::vector<std::uint32_t> steps = {1, 1, 1, 1, 1};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  unsigned rank() const { return static_cast<unsigned>(sizes.size()); }

  // Distance between neighbours in dimension d, in bytes. Rows begin at multiples of 16.
  std::uint64_t stride(unsigned d) const {
    if (d == 0) return element;
    if (d == 1) return (sizes[0] * element + 15) / 16 * 16;
    return stride(d - 1) * sizes[d - 1];
  }
  std::uint64_t total_bytes() const { return stride(rank() - 1) * sizes[rank() - 1]; }

  // Elements that a copy moves in dimension d. A step of dimension 0 has no effect.
  std::uint32_t moved(unsigned d) const {
    return d == 0 ? box[0] : (box[d] + steps[d] - 1) / steps[d];
  }
  std::uint32_t moved_elements() const {
    std::uint32_t all = 1;
    for (unsigned d = 0; d < rank(); ++d) all *= moved(d);
    return all;
  }
  unsigned moved_bytes() const { return moved_elements() * element; }
  // Distance between rows of the box in shared memory, in bytes: at least a swizzle's width.
  std::uint64_t row_pitch() const {
    const std::uint64_t width = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16u << swizzle;
    return std::max<std::uint64_t>(box[0] * element, width);
  }

  CUresult try_encode(CUtensorMap& map, void* address) const {
    std::uint64_t strides[5] = {};  // an array even for one dimension, which the driver demands
    for (unsigned d = 1; d < rank(); ++d) strides[d - 1] = stride(d);
    static const auto encode = encode_tiled_function();
    return encode(&map, type, rank(), address, sizes.data(), strides, box.data(), steps.data(),
                  CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill);
  }
  CUtensorMap map_of(void* address) const {
    CUtensorMap map;
    if (const CUresult failed = try_encode(map, address)) {
      std::printf("cuTensorMapEncodeTiled returned %d\n", static_cast<int>(failed));
      std::exit(1);
    }
    return map;
  }

  // The swizzled address of the byte that would be at this address without swizzling.
  std::uint64_t swizzled(std::uint64_t address) const {
    switch (swizzle) {
      case CU_TENSOR_MAP_SWIZZLE_32B:
        return address ^ ((address >> 3) & 0x10);
      case CU_TENSOR_MAP_SWIZZLE_64B:
        return address ^ ((address >> 3) & 0x30);
      case CU_TENSOR_MAP_SWIZZLE_128B:
        return address ^ ((address >> 3) & 0x70);
      default:
        return address;
    }
  }

  // Calls use(offset in the tensor, offset in the box) for the elements of the box at `start`;
  // outside of the tensor, the first offset is -1. `whole_chunks`: the rows of the tensor end at a
  // multiple of 16 bytes, as for stores.
  template <class Use>
  void each_element(const std::vector<int>& start, Use use, bool whole_chunks = false) const {
    const std::uint64_t row =
        whole_chunks ? (sizes[0] * element + 15) / 16 * 16 / element : sizes[0];
    for (std::uint32_t n = 0; n < moved_elements(); ++n) {
      std::uint32_t rest = n;
      std::int64_t from = 0;
      bool is_inside = true;
      for (unsigned d = 0; d < rank(); ++d) {
        const std::int64_t step = d == 0 ? 1 : steps[d];
        const std::int64_t at = start[d] + step * (rest % moved(d));
        rest /= moved(d);
        is_inside &= at >= 0 && at < static_cast<std::int64_t>(d == 0 ? row : sizes[d]);
        from += at * static_cast<std::int64_t>(stride(d));
      }
      use(is_inside ? from : -1, n / box[0] * row_pitch() + n % box[0] * element);
    }
  }
};

// Bytes that differ from their neighbours and from zero.
inline bytes distinct_bytes(std::size_t count) {
  bytes made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<unsigned char>(1 + (i * 37 + i / 251 * 11) % 255);
  return made;
}

// Compares quietly; prints the first difference.
inline int differs(const char* name, const bytes& found, const bytes& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (found[i] == expected[i]) continue;
    std::printf("%s: byte %zu is 0x%02x, expected 0x%02x\n", name, i, found[i], expected[i]);
    return 1;
  }
  return 0;
}
