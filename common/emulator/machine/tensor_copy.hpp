// Tensor copies: the parts of an instruction that lowering passes to ops_tensor_copy.cpp, and the
// fields of a tensor map that tensormap.replace can set.
#pragma once

#include <cstdint>

#include "common/device/tensor_map.hpp"

namespace stepwise::emulator {

enum class reduction : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };
inline constexpr const char* reduction_names[] = {"add", "min", "max", "inc",
                                                  "dec", "and", "or",  "xor"};

enum class tensor_copy : std::uint8_t { load, store, reduce };

// A copy, except for its addresses and its mask, which are operands of the op.
struct tensor_copy_form {
  tensor_copy what = tensor_copy::load;
  reduction operation = reduction::add;  // of tensor_copy::reduce
  unsigned rank = 0;
  bool is_im2col = false, has_offsets = false;
  // Vector registers: 32-bit coordinates and 16-bit offsets.
  std::uint32_t coordinates[most_tensor_dimensions] = {};
  std::uint32_t offsets[most_pixel_dimensions] = {};
};

// tensormap.replace: op::immediate is the field plus the dimension times `tensor_map_fields`.
enum class tensor_map_field : std::uint8_t {
  address,
  rank,
  box,
  size,
  stride,
  element_stride,
  type,
  interleave,
  swizzle,
  fill
};
inline constexpr unsigned tensor_map_fields = 10;

}  // namespace stepwise::emulator
