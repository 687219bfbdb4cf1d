// A tensor map as kernels see it: the 128 bytes of a CUtensorMap, in a format of our own.
//
// idea    cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col fills the record, and the emulator
//         reads it when a thread copies a tile. A record may hold anything, because a kernel can
//         edit or overwrite it: is_sound() rejects what no request could have produced, and every
//         row of a copy is checked like any other access.
// watch   Only for emulated devices. A GPU's maps have another, undocumented format.
// source  CUDA 13.0 driver API, "Tensor Map Object Management"; PTX ISA 9.0, "Tensors"
// tests   tests/tensor_map_test.cpp
#pragma once

#include <array>
#include <cstdint>

#include "common/device/device_types.hpp"
#include "common/device/error.hpp"

namespace stepwise {

// Numbered as enum CUtensorMapDataType.
enum class tensor_type : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz
};
inline constexpr unsigned tensor_types = 13;
unsigned bytes_of(tensor_type type);
bool is_floating(tensor_type type);
bool is_tf32(tensor_type type);

// Numbered as enum CUtensorMapInterleave: the size of the slices in which channels are stored. The
// channels of a slice are consecutive. With slices, the dimensions are W, H, D, the slices and the
// batch: dimension 0 counts the pixels of a slice, and the second-to-last dimension counts slices.
enum class tensor_interleave : std::uint8_t { none, bytes_16, bytes_32 };
inline constexpr unsigned tensor_interleaves = 3;

// Numbered as enum CUtensorMapSwizzle: the width of the rows whose 16-byte chunks are exchanged.
enum class tensor_swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };
inline constexpr unsigned tensor_swizzles = 4;
// 32, 64 or 128; 0 without a swizzle.
unsigned width_of(tensor_swizzle swizzle);

inline constexpr unsigned most_tensor_dimensions = 5;
inline constexpr std::uint64_t most_tensor_size = std::uint64_t{1} << 32;  // per dimension
inline constexpr unsigned tensor_map_alignment = 64;
inline constexpr unsigned most_pixel_dimensions = most_tensor_dimensions - 2;  // W, H and D

// The arguments of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col. Enumerations are integers,
// because C allows any value.
struct tensor_map_request {
  int type = 0;
  std::uint32_t rank = 0;
  std::uint64_t address = 0;
  std::array<std::uint64_t, most_tensor_dimensions> sizes{};        // in elements, fastest first
  std::array<std::uint64_t, most_tensor_dimensions - 1> strides{};  // in bytes, from dimension 1
  // In im2col mode, box[0] is the number of channels per pixel, and box[1] is the number of pixels
  // per column.
  std::array<std::uint32_t, most_tensor_dimensions> box{}, element_strides{};
  bool is_im2col = false;
  // In im2col mode, the corners of the bounding box along W, H and D.
  std::array<std::int32_t, most_pixel_dimensions> lower{}, upper{};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

struct tensor_map {
  static constexpr std::uint64_t made = 0x7061'6d72'6f73'6e74;  // the value of `mark`

  std::uint64_t mark = 0;
  std::uint64_t address = 0;
  std::array<std::uint64_t, most_tensor_dimensions - 1> strides{};  // in bytes, from dimension 1
  std::array<std::uint32_t, most_tensor_dimensions> last{};         // sizes minus one
  std::array<std::uint32_t, most_tensor_dimensions> box{}, element_strides{};  // as in a request
  std::uint8_t rank = 0;
  tensor_type type = tensor_type::u8;
  tensor_interleave interleave = tensor_interleave::none;
  tensor_swizzle swizzle = tensor_swizzle::none;
  std::uint8_t promotion = 0;  // of L2 sectors; has no effect
  std::uint8_t fills_nan = 0;  // loads fill NaN, not 0, outside of the tensor
  std::uint8_t is_im2col = 0;
  std::uint8_t unused = 0;
  std::array<std::int16_t, most_pixel_dimensions> lower{}, upper{};

  std::uint64_t size(unsigned dimension) const { return std::uint64_t{last[dimension]} + 1; }
  bool is_interleaved() const { return interleave != tensor_interleave::none; }

  // A copy moves rows: consecutive elements of dimension 0, or single slices of an interleaved
  // layout. These functions return the bytes of a row, the number of rows in a box, and the first
  // dimension that counts rows.
  std::uint32_t row_bytes() const {
    return is_interleaved() ? 8u << static_cast<unsigned>(interleave) : box[0] * bytes_of(type);
  }
  std::uint64_t box_rows() const;
  unsigned first_row_dimension() const { return is_interleaved() ? 0 : 1; }
  // In the dimensions from first_row_dimension() on: the distance between neighbours in bytes, and
  // the number of rows of a box.
  std::uint64_t row_stride(unsigned dimension) const {
    return dimension == 0 ? row_bytes() : strides[dimension - 1];
  }
  std::uint32_t box_elements(unsigned dimension) const {
    // A box has one slice of channels, whatever its size there. Measured on an H200 with sizes from
    // 3 to 32.
    if (is_interleaved() && dimension + 2 == rank) return 1;
    return (box[dimension] + element_strides[dimension] - 1) / element_strides[dimension];
  }

  // Whether encode_map() can have made the record.
  bool is_sound() const;
};
static_assert(sizeof(tensor_map) == sizeof(opaque_tensor_map));

// The record for a request. Otherwise, invalid_value with the rule that the request breaks, or
// not_supported.
result<opaque_tensor_map> encode_map(const tensor_map_request& request);

// The same record with another address. invalid_value for an address that a record cannot have, or
// a record that encode_map() cannot have made.
result<opaque_tensor_map> with_address(const opaque_tensor_map& map, std::uint64_t address);

}  // namespace stepwise
