// The rules of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
#include "common/device/tensor_map.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace stepwise {
namespace {

constexpr std::uint64_t stride_limit = std::uint64_t{1} << 40;
constexpr std::uint32_t most_box = 256, most_element_stride = 8, most_pixels = 1024;
constexpr unsigned row_alignment = 16;
constexpr std::uint64_t most_box_bytes = 228 * 1024;  // a multiprocessor's shared memory
constexpr int interleaved_32 = static_cast<int>(tensor_interleave::bytes_32), most_promotion = 3;

status broken(std::string rule) { return {error::invalid_value, std::move(rule)}; }

std::string in_dimension(const char* array, unsigned d, std::uint64_t value) {
  return std::string(array) + "[" + std::to_string(d) + "] is " + std::to_string(value) +
         ", expected ";
}

// The rules for arguments that do not depend on others.
status check_numbers(const tensor_map_request& r) {
  if (r.type < 0) return broken("there is no such data type");
  if (static_cast<unsigned>(r.type) >= tensor_types) {
    constexpr int most_known = 15;  // packed elements of 4 and 6 bits, which need sm_100
    if (r.type > most_known) return broken("there is no such data type");
    return broken("packed elements of 4 or 6 bits need a GPU of compute capability 10.0");
  }
  if (r.rank < 1 || r.rank > most_tensor_dimensions)
    return broken("the rank is " + std::to_string(r.rank) + ", expected 1 to 5");
  if (r.is_im2col && r.rank < 3)
    return broken("the rank is " + std::to_string(r.rank) + ", expected 3 to 5 in im2col mode");
  if (r.interleave < 0 || static_cast<unsigned>(r.interleave) >= tensor_interleaves)
    return broken("there is no such interleave layout");
  if (r.interleave != 0 && r.rank < 3)
    return broken("an interleaved layout needs a rank of 3 to 5");
  if (r.swizzle < 0) return broken("there is no such swizzle mode");
  if (static_cast<unsigned>(r.swizzle) >= tensor_swizzles) {
    constexpr int most_known = 6;
    if (r.swizzle > most_known) return broken("there is no such swizzle mode");
    return broken("swizzle modes with an atomicity need a GPU of compute capability 10.0");
  }
  if (r.promotion < 0 || r.promotion > most_promotion)
    return broken("there is no such L2 promotion");
  if (r.fill < 0 || r.fill > 1) return broken("there is no such fill mode");
  if (r.fill == 1 && !is_floating(static_cast<tensor_type>(r.type)))
    return broken("only elements of floating-point types can be filled with NaN");
  return {};
}

// The alignment of a global address or stride, in bytes.
std::uint64_t global_alignment(int interleave) { return interleave == interleaved_32 ? 32 : 16; }

status check_address(std::uint64_t address, std::uint64_t alignment) {
  if (address % alignment != 0)
    return broken("the global address is not a multiple of " + std::to_string(alignment) +
                  " bytes");
  return {};
}

// The rules for the tensor in global memory.
status check_tensor(const tensor_map_request& r) {
  const std::uint64_t alignment = global_alignment(r.interleave);
  if (status address = check_address(r.address, alignment); !address.ok()) return address;
  for (unsigned d = 0; d < r.rank; ++d)
    if (r.sizes[d] < 1 || r.sizes[d] > most_tensor_size)
      return broken(in_dimension("globalDim", d, r.sizes[d]) + "1 to 2^32");
  for (unsigned d = 0; d + 1 < r.rank; ++d) {
    if (r.strides[d] % alignment != 0)
      return broken(in_dimension("globalStrides", d, r.strides[d]) + "a multiple of " +
                    std::to_string(alignment) + " bytes");
    if (r.strides[d] >= stride_limit)
      return broken(in_dimension("globalStrides", d, r.strides[d]) + "less than 2^40 bytes");
  }
  return {};
}

// The rules for a bounding box of pixels. The rank determines how many bits a corner has.
status check_pixels(const tensor_map_request& r) {
  const std::int32_t most = r.rank == 3 ? 32767 : r.rank == 4 ? 127 : 15;
  const unsigned first = r.interleave != 0 ? 0 : 1;  // dimension W
  for (unsigned d = 0; d + 2 < r.rank; ++d) {
    for (const auto& [name, corner] : {std::pair{"pixelBoxLowerCorner", r.lower[d]},
                                       std::pair{"pixelBoxUpperCorner", r.upper[d]}})
      if (corner < -most - 1 || corner > most)
        return broken(std::string(name) + "[" + std::to_string(d) + "] is " +
                      std::to_string(corner) + ", expected " + std::to_string(-most - 1) + " to " +
                      std::to_string(most));
    if (static_cast<std::int64_t>(r.sizes[first + d]) + r.upper[d] <= r.lower[d])
      return broken("the bounding box is empty in dimension " + std::to_string(first + d));
  }
  if (r.box[0] < 1 || r.box[0] > most_box)
    return broken("channelsPerPixel is " + std::to_string(r.box[0]) + ", expected 1 to 256");
  if (r.box[1] < 1 || r.box[1] > most_pixels)
    return broken("pixelsPerColumn is " + std::to_string(r.box[1]) + ", expected 1 to 1024");
  return {};
}

status check_box_sizes(const tensor_map_request& r) {
  for (unsigned d = 0; d < r.rank; ++d)
    if (r.box[d] < 1 || r.box[d] > most_box)
      return broken(in_dimension("boxDim", d, r.box[d]) + "1 to 256");
  return {};
}

// The bytes of a box, counting only the element strides of the dimensions from `first_step` on.
std::uint64_t bytes_of_box(const tensor_map_request& r, unsigned first_step) {
  std::uint64_t bytes = bytes_of(static_cast<tensor_type>(r.type));
  if (r.is_im2col) return bytes * r.box[0] * r.box[1];
  for (unsigned d = 0; d < r.rank; ++d) {
    const std::uint32_t step = d < first_step ? 1 : r.element_strides[d];
    bytes *= (r.box[d] + step - 1) / step;
  }
  return bytes;
}

// The limit also applies to the product of the box's sizes in an interleaved layout, although a
// copy then moves only one slice of channels. Measured on an H200, without element strides.
status check_box_bytes(const tensor_map_request& r) {
  const std::uint64_t bytes = bytes_of_box(r, r.interleave != 0 ? 0 : 1);
  if (bytes > most_box_bytes)
    return broken("the box has " + std::to_string(bytes) + " bytes, expected at most " +
                  std::to_string(most_box_bytes));
  if (r.interleave != 0 && bytes_of_box(r, r.rank) > most_box_bytes)
    return {error::not_supported, "element strides in an interleaved box of more than " +
                                      std::to_string(most_box_bytes) + " bytes are not supported"};
  return {};
}

// The rules for the box in shared memory.
status check_box(const tensor_map_request& r) {
  if (status sizes = r.is_im2col ? check_pixels(r) : check_box_sizes(r); !sizes.ok()) return sizes;
  for (unsigned d = 0; d < r.rank; ++d)
    if (r.element_strides[d] < 1 || r.element_strides[d] > most_element_stride)
      return broken(in_dimension("elementStrides", d, r.element_strides[d]) + "1 to 8");
  const unsigned row = r.box[0] * bytes_of(static_cast<tensor_type>(r.type));
  const std::string found = "the box has " + std::to_string(row) + " bytes in dimension 0, ";
  if (row % row_alignment != 0) return broken(found + "expected a multiple of 16");
  if (status bytes = check_box_bytes(r); !bytes.ok()) return bytes;
  if (r.interleave != 0) return {};
  const unsigned width = width_of(static_cast<tensor_swizzle>(r.swizzle));
  if (width != 0 && row > width)
    return broken(found + "more than the swizzle's width of " + std::to_string(width));
  return {};
}

}  // namespace

unsigned bytes_of(tensor_type type) {
  switch (type) {
    case tensor_type::u8:
      return 1;
    case tensor_type::u16:
    case tensor_type::f16:
    case tensor_type::bf16:
      return 2;
    case tensor_type::u64:
    case tensor_type::s64:
    case tensor_type::f64:
      return 8;
    default:
      return 4;
  }
}

bool is_floating(tensor_type type) { return type >= tensor_type::f16; }
bool is_tf32(tensor_type type) { return type >= tensor_type::tf32; }

unsigned width_of(tensor_swizzle swizzle) {
  return swizzle == tensor_swizzle::none ? 0 : 16u << static_cast<unsigned>(swizzle);
}

std::uint64_t tensor_map::box_rows() const {
  if (is_im2col != 0) return box[1];
  std::uint64_t rows = 1;
  for (unsigned d = first_row_dimension(); d < rank; ++d) rows *= box_elements(d);
  return rows;
}

result<opaque_tensor_map> encode_map(const tensor_map_request& r) {
  if (status numbers = check_numbers(r); !numbers.ok()) return numbers;
  if (status tensor = check_tensor(r); !tensor.ok()) return tensor;
  if (status box = check_box(r); !box.ok()) return box;
  tensor_map made;
  made.mark = tensor_map::made;
  made.address = r.address;
  made.rank = static_cast<std::uint8_t>(r.rank);
  made.type = static_cast<tensor_type>(r.type);
  made.interleave = static_cast<tensor_interleave>(r.interleave);
  made.swizzle = static_cast<tensor_swizzle>(r.swizzle);
  made.promotion = static_cast<std::uint8_t>(r.promotion);
  made.fills_nan = static_cast<std::uint8_t>(r.fill);
  for (unsigned d = 0; d < r.rank; ++d) made.last[d] = static_cast<std::uint32_t>(r.sizes[d] - 1);
  std::copy_n(r.strides.begin(), r.rank - 1, made.strides.begin());
  std::copy_n(r.box.begin(), r.is_im2col ? 2 : r.rank, made.box.begin());
  made.is_im2col = r.is_im2col ? 1 : 0;
  for (unsigned d = 0; r.is_im2col && d + 2 < r.rank; ++d) {
    made.lower[d] = static_cast<std::int16_t>(r.lower[d]);
    made.upper[d] = static_cast<std::int16_t>(r.upper[d]);
  }
  std::copy_n(r.element_strides.begin(), r.rank, made.element_strides.begin());
  return std::bit_cast<opaque_tensor_map>(made);
}

bool tensor_map::is_sound() const {
  if (mark != made || rank < 1 || rank > most_tensor_dimensions) return false;
  tensor_map_request same{.type = static_cast<int>(type),
                          .rank = rank,
                          .address = address,
                          .strides = strides,
                          .box = box,
                          .element_strides = element_strides,
                          .is_im2col = is_im2col != 0,
                          .lower = {lower[0], lower[1], lower[2]},
                          .upper = {upper[0], upper[1], upper[2]},
                          .interleave = static_cast<int>(interleave),
                          .swizzle = static_cast<int>(swizzle),
                          .promotion = promotion,
                          .fill = fills_nan};
  for (unsigned d = 0; d < rank; ++d) same.sizes[d] = size(d);
  return encode_map(same).ok();
}

result<opaque_tensor_map> with_address(const opaque_tensor_map& map, std::uint64_t address) {
  auto moved = std::bit_cast<tensor_map>(map);
  if (!moved.is_sound()) return broken("the tensor map was not encoded, or was overwritten");
  if (address == 0) return broken("the global address is null");
  if (status usable = check_address(address, global_alignment(static_cast<int>(moved.interleave)));
      !usable.ok())
    return usable;
  moved.address = address;
  return std::bit_cast<opaque_tensor_map>(moved);
}

}  // namespace stepwise
