// Copies of tensor tiles (TMA), and edits of tensor maps.
//
// idea    A copy reads its map when it is issued, but may move the data later (scheduler::do_copy).
//         It visits the box row by row. The part of a row that lies inside the tensor is copied;
//         loads fill the rest. A row is contiguous: elements of dimension 0, or a slice of an
//         interleaved layout.
// watch   The record of a map may hold anything (common/device/tensor_map.hpp).
// source  PTX ISA 9.0, "Tensors", "cp.async.bulk.tensor", "tensormap.replace". Tested by
//         ../../runtime/conformance/tma/ and ../../runtime/conformance/fault/.
#include <algorithm>
#include <cstring>
#include <memory>

#include "common/device/tensor_map.hpp"
#include "common/emulator/machine/access.hpp"
#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/tensor_copy.hpp"
#include "common/emulator/ops/ops_async.hpp"
#include "common/emulator/ops/reduction.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

constexpr unsigned chunk_bytes = 16;          // the unit of swizzling and of stores
constexpr unsigned most_row_bytes = 256 * 8;  // of a valid tensor map
constexpr unsigned shared_box_alignment = 128;

// The distance between the rows of a box in shared memory. Rows that are narrower than the pattern
// of the swizzle still take its whole width, but only their bytes are counted. Slices of an
// interleaved layout are contiguous. Measured on an H200.
u32 row_pitch(const tensor_map& map) {
  if (map.is_interleaved()) return map.row_bytes();
  return std::max<u32>(map.row_bytes(), width_of(map.swizzle));
}

// The swizzled shared-memory offset of a chunk that would be at `offset` without swizzling. The low
// bits of the index of its 128-byte row are XORed into the chunk's index within the row.
u64 swizzled(u64 offset, tensor_swizzle swizzle) {
  const u64 chunks = std::max(width_of(swizzle) / chunk_bytes, 1u);  // a power of two
  return offset ^ ((offset / 128 & (chunks - 1)) * chunk_bytes);
}

// A load of tf32 rounds floats to nearest even. It does not flush subnormals, whatever the type's
// name says. Measured on an H200.
void round_to_tf32(std::byte* values, u64 bytes) {
  for (u64 at = 0; at < bytes; at += sizeof(u32)) {
    u32 bits;
    std::memcpy(&bits, values + at, sizeof bits);
    const bool is_special = (bits & 0x7f800000) == 0x7f800000;
    if ((bits & 0x7fffffff) > 0x7f800000) bits = 0x7fffe000;
    if (!is_special) bits = (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
    std::memcpy(values + at, &bits, sizeof bits);
  }
}

// A row of a box. Its bytes from `first` on, `bytes` of them, lie in the tensor, at `address`.
struct box_row {
  u64 index, first, bytes, address;
  u64 padding;  // bytes of them that a store writes past the tensor
};

class tile_copy {
 public:
  tile_copy(context& x, const op* i, int lane)
      : x_(x), i_(i), lane_(lane), form_(*reinterpret_cast<const tensor_copy_form*>(i->immediate)) {
    for (unsigned d = 0; d < form_.rank; ++d) start_[d] = x.vreg<s32>(form_.coordinates[d])[lane];
    if (form_.has_offsets) read_offsets();
    box_ = x.vreg<u64>(i->a)[lane];
    map_at_ = x.vreg<u64>(i->b)[lane];
    if (is_load()) barrier_ = x.vreg<u64>(i->d)[lane];
    if (i->c != 0) blocks_ = x.vreg<u16>(i->c)[lane];
  }

  bool is_load() const { return form_.what == tensor_copy::load; }
  // prepare() runs when the copy is issued. run() makes the copy, and reads no registers. Both
  // return false if the launch was stopped.
  bool prepare() {
    return read_map() && check_layout() && check_start() &&
           (i_->c == 0 || check_multicast(x_, i_, lane_, blocks_));
  }
  bool run() {
    switch (form_.what) {
      case tensor_copy::load:
        return load();
      case tensor_copy::store:
        return store(nullptr);
      case tensor_copy::reduce:
        return reduce();
    }
    return false;
  }

 private:
  using reducer = void (*)(std::byte* to, const std::byte* from, u64 bytes);

  bool refuse(const std::string& what) {
    x_.owner->stop(i_, error::illegal_instruction, what, lane_);
    return false;
  }

  // Stops the launch at a use that a GPU may allow.
  bool leave_out(const std::string& what) {
    x_.owner->stop(i_, error::not_supported, what + " is not supported", lane_);
    return false;
  }

  // --- the map ---

  bool read_map() {
    constexpr const char* whose = "the tensor map: ";
    const u64 at = map_at_;
    const std::byte* from = nullptr;
    if (at - local_window < window_bytes) {
      x_.owner->stop(i_, error::illegal_address, "a tensor map in local memory", lane_,
                     "Declare the kernel's parameter as const __grid_constant__ CUtensorMap, so "
                     "that the kernel does not take the address of a local copy.");
      return false;
    }
    if (at - parameter_window < window_bytes) {
      const u64 offset = at - parameter_window;
      const bool misaligned = offset % tensor_map_alignment != 0;
      if (misaligned || offset > x_.parameter_bytes || sizeof map_ > x_.parameter_bytes - offset) {
        stop_with(x_, i_,
                  {misaligned, memory_space::parameter, access_kind::load, lane_, offset,
                   sizeof map_, tensor_map_alignment, whose});
        return false;
      }
      from = x_.parameters + offset;
    } else {
      from = reach(x_, i_, lane_, at,
                   {sizeof map_, tensor_map_alignment, memory_space::global, access_kind::load,
                    whose, memory_order::weak, false, true});
    }
    if (from == nullptr) return false;
    std::memcpy(&map_, from, sizeof map_);
    if (!map_.is_sound())
      return refuse(
          "a tensor map that cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col did not make, or "
          "that was changed so that it breaks that function's rules");
    if (map_.rank != form_.rank)
      return refuse("a copy of " + std::to_string(form_.rank) +
                    " dimensions with a tensor map of " + std::to_string(map_.rank));
    if (form_.is_im2col != (map_.is_im2col != 0))
      return refuse(form_.is_im2col ? "a copy in im2col mode with a tensor map for tiles"
                                    : "a copy of a tile with a tensor map for im2col mode");
    return true;
  }

  // Refuses the uses of interleaved layouts that were not measured.
  bool check_layout() {
    if (!map_.is_interleaved()) return true;
    if (map_.interleave == tensor_interleave::bytes_32 && map_.swizzle != tensor_swizzle::bytes_32)
      return leave_out("a layout of 32-byte slices without a swizzle of 32 bytes");
    const u32 contiguous = map_.row_bytes() * (map_.is_im2col != 0 ? 1 : map_.box_elements(0));
    const u32 width = width_of(map_.swizzle);
    if (width != 0 && contiguous % width != 0)
      return leave_out("a swizzle of " + std::to_string(width) +
                       " bytes for an interleaved box with " + std::to_string(contiguous) +
                       " bytes in dimension 0");
    if (map_.is_im2col != 0 && form_.what != tensor_copy::load)
      return leave_out("a store in im2col mode to an interleaved tensor");
    const unsigned slices = map_.rank - 2u;
    if (start_[slices] >= static_cast<s64>(map_.size(slices)))
      return leave_out("a box that begins past the last slice of an interleaved tensor");
    return true;
  }

  // A box must begin at a multiple of 16 bytes in dimension 0, and a column must begin within the
  // bounding box. Measured on an H200.
  bool check_start() {
    const s64 first = map_.is_interleaved() ? 0 : start_[0] * static_cast<s64>(bytes_of(map_.type));
    if (first % chunk_bytes != 0)
      return refuse("the box begins at byte " + std::to_string(first) +
                    " of dimension 0, expected a multiple of 16");
    if (map_.is_im2col == 0) return true;
    const unsigned begin = map_.first_row_dimension();
    for (unsigned d = begin; d < end_of_pixel_dimensions(); ++d) {
      const s64 lower = map_.lower[d - begin], end = end_of_pixels(d);
      if (start_[d] < lower || start_[d] >= end)
        return refuse("the column begins at " + std::to_string(start_[d]) + " in dimension " +
                      std::to_string(d) + ", outside of the bounding box from " +
                      std::to_string(lower) + " to " + std::to_string(end - 1));
    }
    return true;
  }

  // The end of the pixel dimensions in im2col mode, which begin with first_row_dimension().
  unsigned end_of_pixel_dimensions() const { return map_.first_row_dimension() + map_.rank - 2; }
  // The end of the bounding box of pixels in this dimension.
  s64 end_of_pixels(unsigned dimension) const {
    return static_cast<s64>(map_.size(dimension)) +
           map_.upper[dimension - map_.first_row_dimension()];
  }

  // ptxas packs the offsets into 16 bits: one of 16 bits, two of 8 or three of 5. If there are two,
  // an offset that is too large loses its upper bits. If there are three, it spills into the next
  // offset.
  void read_offsets() {
    const unsigned bits = form_.rank == 3 ? 16 : form_.rank == 4 ? 8 : 5;
    const u32 most = (1u << bits) - 1;
    u32 packed = 0;
    for (unsigned d = 0; d + 2 < form_.rank; ++d) {
      const u32 given = x_.vreg<u16>(form_.offsets[d])[lane_];
      packed += (form_.rank == 5 ? given : given & most) << (d * bits);
    }
    for (unsigned d = 0; d + 2 < form_.rank; ++d) offset_[d] = packed >> (d * bits) & most;
  }

  // --- rows ---

  // The first row of a box: its part in dimension 0 that lies in the tensor. On an H200, a store
  // writes whole chunks of 16 bytes, so it may write a little past the end of dimension 0. A load
  // is exact.
  box_row first_row() const {
    if (map_.is_interleaved()) return {0, 0, map_.row_bytes(), map_.address, 0};
    const s64 element = bytes_of(map_.type), width = map_.box[0];
    const s64 in_chunk = form_.what == tensor_copy::load ? 1 : chunk_bytes / element;
    const s64 size = static_cast<s64>(map_.size(0));
    const s64 length = (size + in_chunk - 1) / in_chunk * in_chunk;
    const s64 first = std::clamp<s64>(-start_[0], 0, width);
    const s64 end = std::clamp<s64>(length - start_[0], first, width);
    const s64 padding = std::clamp<s64>(end - (size - start_[0]), 0, end - first);
    return {0, static_cast<u64>(first * element), static_cast<u64>((end - first) * element),
            map_.address + static_cast<u64>((start_[0] + first) * element),
            static_cast<u64>(padding * element)};
  }

  // Moves a row to coordinate `at` of a dimension from first_row_dimension() on.
  void place_row(box_row& row, unsigned dimension, s64 at) const {
    if (at < 0 || at >= static_cast<s64>(map_.size(dimension))) row.bytes = 0;
    row.address += static_cast<u64>(at) * map_.row_stride(dimension);
  }

  // Calls use(box_row) -> bool for the rows of the box until one returns false.
  template <class Use>
  bool each_row(Use use) {
    return map_.is_im2col != 0 ? each_pixel(use) : each_row_of_tile(use);
  }

  template <class Use>
  bool each_row_of_tile(Use use) {
    const box_row first = first_row();
    for (u64 index = 0, rows = map_.box_rows(); index < rows; ++index) {
      box_row row = first;
      row.index = index;
      u64 rest = index;
      for (unsigned d = map_.first_row_dimension(); d < map_.rank; ++d) {
        const u32 elements = map_.box_elements(d);
        place_row(row, d, start_[d] + static_cast<s64>(rest % elements) * map_.element_strides[d]);
        rest /= elements;
      }
      if (!use(row)) return false;
    }
    return true;
  }

  // Visits the pixels of the bounding box, W first, and then those of the next images in the batch.
  // The offsets shift the pixels, but not the bounding box.
  template <class Use>
  bool each_pixel(Use use) {
    const box_row first = first_row();
    const unsigned begin = map_.first_row_dimension(), end = end_of_pixel_dimensions();
    const unsigned batch = map_.rank - 1u;
    s64 at[most_tensor_dimensions];
    std::ranges::copy(start_, at);
    for (u64 index = 0, pixels = map_.box_rows(); index < pixels; ++index) {
      box_row row = first;
      row.index = index;
      for (unsigned d = begin; d < map_.rank; ++d)
        place_row(row, d, at[d] + (d < end ? offset_[d - begin] : 0));
      if (!use(row)) return false;
      unsigned d = begin;
      for (; d < end; ++d) {
        at[d] += map_.element_strides[d];
        if (at[d] < end_of_pixels(d)) break;
        at[d] = map_.lower[d - begin];
      }
      if (d == end) at[batch] += map_.element_strides[batch];
    }
    return true;
  }

  // The padding of an allocation's last row may lie past the allocation. A GPU has memory there.
  box_row without_lost_padding(box_row row) const {
    const auto found = x_.memory->find(row.address);
    if (found && row.bytes > found->base + found->bytes - row.address) row.bytes -= row.padding;
    return row;
  }

  // The host address of a row's part in the tensor; null if the launch was stopped.
  std::byte* reach_row(const box_row& row, access_kind kind) {
    const u64 offset = row.address - allocation_.base;
    if ((x_.watch == nullptr || has_read_) && offset < allocation_.bytes &&
        row.bytes <= allocation_.bytes - offset)
      return x_.memory->host(row.address);
    if (const auto found = x_.memory->find(row.address)) allocation_ = *found;
    return reach(x_, i_, lane_, row.address,
                 {row.bytes, bytes_of(map_.type), memory_space::global, kind,
                  "the tensor: ", order_of(kind)});
  }

  // --- the box in shared memory ---

  u64 box_bytes() const { return map_.box_rows() * map_.row_bytes(); }

  // A box at an address of shared memory, perhaps in another block.
  struct shared_box {
    std::byte* host = nullptr;  // null: the launch was stopped
    u64 offset = 0;             // in the block's shared memory
  };
  // A store reads only the part of the box that lies in the tensor: see watch_row().
  shared_box reach_box(u64 at, access_kind kind) {
    // The last chunks of a swizzled box may lie anywhere in the last row of the swizzle.
    const u64 unit = std::max(width_of(map_.swizzle), chunk_bytes);
    const u64 bytes = (map_.box_rows() * row_pitch(map_) + unit - 1) / unit * unit;
    const u64 offset = at - shared_window;
    if (kind == access_kind::load && offset % shared_box_alignment == 0 &&
        offset <= x_.shared_bytes && bytes <= x_.shared_bytes - offset)
      return {x_.shared + offset, offset};
    std::byte* const host = reach(
        x_, i_, lane_, at,
        {bytes, shared_box_alignment, memory_space::shared, kind, "the box in shared memory: "});
    return {host, offset % peer_bytes};
  }

  // Notifies observers that a store reads a row's part in the tensor from shared memory.
  void watch_row(const shared_box& box, const box_row& row) {
    if (x_.watch == nullptr) return;
    const u64 first = row.first, end = row.first + row.bytes - row.padding;
    each_chunk(box, row.index, [&](std::byte* shared, std::byte* ours) {
      const u64 at = static_cast<u64>(ours - row_);
      const u64 from = std::max(at, first), to = std::min(at + chunk_bytes, end);
      if (from >= to) return;
      const u64 offset = box.offset + static_cast<u64>(shared - box.host) + (from - at);
      x_.owner->watch_range(i_, lane_, memory_space::shared, offset,
                            {to - from, 1, memory_space::shared, access_kind::load, ""}, true);
    });
  }

  // Calls use(chunk in the box, chunk in the row) for each 16 bytes of a row.
  template <class Use>
  void each_chunk(const shared_box& box, u64 row, Use use) {
    for (u64 at = 0; at < map_.row_bytes(); at += chunk_bytes) {
      const u64 offset = box.offset + row * row_pitch(map_) + at;
      use(box.host + (swizzled(offset, map_.swizzle) - box.offset), row_ + at);
    }
  }

  // --- directions ---

  void fill_row() {
    constexpr u16 nan = 0x7ff7;  // in every 16 bits, whatever the type; measured on an H200
    for (u64 at = 0; at < map_.row_bytes(); at += sizeof nan) {
      const u16 fill = map_.fills_nan != 0 ? nan : 0;
      std::memcpy(row_ + at, &fill, sizeof fill);
    }
  }

  bool load() {
    if (i_->c == 0) return load_to(box_, barrier_);
    for (u32 m = blocks_; m != 0; m &= m - 1) {
      const u32 rank = static_cast<u32>(__builtin_ctz(m));
      if (!load_to(address_in_block(x_, box_, rank), address_in_block(x_, barrier_, rank)))
        return false;
      has_read_ = true;
    }
    return true;
  }

  static u64 sectors_of(u64 bytes) { return (bytes + 31) / 32; }

  bool load_to(u64 to, u64 barrier) {
    const shared_box box = reach_box(to, access_kind::store);
    u64 filled_sectors = 0;  // before and after the part of a row that lies in the tensor
    const auto load_row = [&](const box_row& row) {
      if (row.bytes != map_.row_bytes()) {
        fill_row();
        const u64 before = row.bytes == 0 ? 0 : row.first;
        filled_sectors += sectors_of(before) + sectors_of(map_.row_bytes() - before - row.bytes);
      }
      if (row.bytes != 0) {
        const std::byte* const from = reach_row(row, access_kind::load);
        if (from == nullptr) return false;
        std::memcpy(row_ + row.first, from, row.bytes);
        if (is_tf32(map_.type)) round_to_tf32(row_ + row.first, row.bytes);
        x_.counts.global_load_bytes += row.bytes;
      }
      each_chunk(box, row.index, [](std::byte* shared, std::byte* ours) {
        std::memcpy(shared, ours, chunk_bytes);
      });
      return true;
    };
    if (box.host == nullptr || !each_row(load_row)) return false;
    x_.counts.shared_store_bytes += box_bytes();
    return complete_bytes(x_, i_, lane_, barrier, box_bytes(), filled_sectors);
  }

  // On an H200, stores with a bounding box that begins outside of the images are illegal
  // instructions. A box that ends outside of them was not measured.
  bool check_pixels_of_store() {
    if (map_.is_im2col == 0) return true;
    if (std::ranges::any_of(map_.lower, [](int corner) { return corner < 0; }))
      return refuse("a store in im2col mode with a bounding box that begins outside of the images");
    if (std::ranges::any_of(map_.upper, [](int corner) { return corner > 0; }))
      return leave_out(
          "a store in im2col mode with a bounding box that ends outside of the images");
    return true;
  }

  // Without `reduce_row`, the box replaces what is in the tensor.
  bool store(reducer reduce_row) {
    if (!check_pixels_of_store()) return false;
    const shared_box box = reach_box(box_, access_kind::load);
    const access_kind kind = reduce_row != nullptr ? access_kind::atomic : access_kind::store;
    const auto store_row = [&](const box_row& row) {
      if (row.bytes == 0) return true;
      each_chunk(box, row.index, [](std::byte* shared, std::byte* ours) {
        std::memcpy(ours, shared, chunk_bytes);
      });
      watch_row(box, row);
      const box_row written = without_lost_padding(row);
      std::byte* const to = reach_row(written, kind);
      if (to == nullptr) return false;
      if (reduce_row != nullptr)
        reduce_row(to, row_ + row.first, written.bytes);
      else
        std::memcpy(to, row_ + row.first, written.bytes);
      x_.counts.global_store_bytes += written.bytes;
      return true;
    };
    if (box.host == nullptr || !each_row(store_row)) return false;
    x_.counts.shared_load_bytes += box_bytes();
    return true;
  }

  // The name of the map's type in PTX, as the operation has it. On an H200, s64 has only min and
  // max.
  const char* type_in_ptx() const {
    const bool is_minmax = form_.operation == reduction::min || form_.operation == reduction::max;
    if (map_.type == tensor_type::s64 && !is_minmax) return "";
    static constexpr const char* names[tensor_types] = {"u8",  "u16",  "u32", "s32", "u64",
                                                        "s64", "f16",  "f32", "f64", "bf16",
                                                        "f32", "tf32", "tf32"};
    if (form_.operation < reduction::bit_and) return names[static_cast<unsigned>(map_.type)];
    const unsigned bytes = is_floating(map_.type) ? 0 : bytes_of(map_.type);
    return bytes == 4 ? "b32" : bytes == 8 ? "b64" : "";
  }

  bool reduce() {
    const std::string_view type = type_in_ptx();
    reducer found = nullptr;
    for_reductions([&]<class T, class Next>(reduction operation, std::string_view of, Next) {
      if (operation == form_.operation && of == type) found = &reduce_elements<T, Next>;
    });
    if (found != nullptr) return store(found);
    return refuse(std::string("a reduction with .") +
                  reduction_names[static_cast<unsigned>(form_.operation)] +
                  " of a tensor map whose element type has no such operation");
  }

  context& x_;
  const op* i_;
  int lane_;
  const tensor_copy_form& form_;
  u64 box_ = 0, map_at_ = 0, barrier_ = 0;  // generic addresses
  u32 blocks_ = 0;                          // of a multicast
  tensor_map map_;
  s64 start_[most_tensor_dimensions] = {};
  s64 offset_[most_pixel_dimensions] = {};  // in im2col mode, along W, H and D
  access_window allocation_;                // contains the last row
  bool has_read_ = false;                   // a multicast reads the tensor once
  std::byte row_[most_row_bytes];
};

// d: mbarrier, 0 for none; a: box in shared memory; b: map; c: 16-bit mask of a multicast, 0 for
// none; immediate: the tensor_copy_form.
const op* copy_tile(context& x, const op* i) {
  return each_lane(x, i, [&](int l) {
    const auto copy = std::make_shared<tile_copy>(x, i, l);
    return copy->prepare() &&
           x.owner->do_copy(i, l, !copy->is_load(), [copy](context&) { return copy->run(); });
  });
}

// --- edits of maps -----------------------------------------------------------------------------

struct field_place {
  u64 offset;
  unsigned bytes;
};

// The place of a field in the record, for one dimension.
field_place place_of(tensor_map_field field, unsigned dimension) {
  const auto in_array = [&](u64 offset, unsigned bytes) {
    return field_place{offset + u64{dimension} * bytes, bytes};
  };
  switch (field) {
    case tensor_map_field::address:
      return {offsetof(tensor_map, address), 8};
    case tensor_map_field::rank:
      return {offsetof(tensor_map, rank), 1};
    case tensor_map_field::box:
      return in_array(offsetof(tensor_map, box), 4);
    case tensor_map_field::size:
      return in_array(offsetof(tensor_map, last), 4);
    case tensor_map_field::stride:
      return in_array(offsetof(tensor_map, strides), 8);
    case tensor_map_field::element_stride:
      return in_array(offsetof(tensor_map, element_strides), 4);
    case tensor_map_field::type:
      return {offsetof(tensor_map, type), 1};
    case tensor_map_field::interleave:
      return {offsetof(tensor_map, interleave), 1};
    case tensor_map_field::swizzle:
      return {offsetof(tensor_map, swizzle), 1};
    case tensor_map_field::fill:
      return {offsetof(tensor_map, fills_nan), 1};
  }
  return {};
}

// The bytes of a field for the value that PTX has. A value that does not fit becomes one that
// is_sound() rejects.
u64 encoded(tensor_map_field field, u64 value) {
  constexpr u64 most_in_byte = 255;
  if (field == tensor_map_field::size) return value - 1;
  if (field == tensor_map_field::rank) return std::min(value, most_in_byte - 1) + 1;
  return value;
}

// a: address of the map; b: new value, of 64 bits for an address or a stride, else of 32;
// immediate: tensor_map_field and dimension.
const op* replace_field(context& x, const op* i) {
  const auto field = static_cast<tensor_map_field>(i->immediate % tensor_map_fields);
  const field_place place =
      place_of(field, static_cast<unsigned>(i->immediate / tensor_map_fields));
  return each_lane(x, i, [&](int l) {
    const u64 at = x.vreg<u64>(i->a)[l];
    const u64 given = place.bytes == 8 ? x.vreg<u64>(i->b)[l] : x.vreg<u32>(i->b)[l];
    const u64 value = encoded(field, given);
    // A misaligned map must fail here, although its field may be aligned.
    const u64 from = at % tensor_map_alignment == 0 ? at + place.offset : at;
    const unsigned alignment = from == at ? tensor_map_alignment : 1;
    std::byte* const to = reach(
        x, i, l, from,
        {place.bytes, alignment, memory_space::generic, access_kind::store, "the tensor map: "});
    if (to == nullptr) return false;
    if (field == tensor_map_field::interleave && static_cast<u64>(*to) != value) {
      x.owner->stop(
          i, error::not_supported,
          "tensormap.replace with an interleaved layout other than the map's is not supported", l);
      return false;
    }
    std::memcpy(to, &value, place.bytes);
    return true;
  });
}

// tensormap.cp_fenceproxy. a: destination in global memory; b: source in shared memory. The whole
// warp has arrived.
const op* copy_map(context& x, const op* i) {
  const int lane = __builtin_ctz(x.active);
  const std::byte* const from =
      reach(x, i, lane, x.vreg<u64>(i->b)[lane],
            {sizeof(tensor_map), tensor_map_alignment, memory_space::shared, access_kind::load,
             "the source of tensormap.cp_fenceproxy: "});
  if (from == nullptr) return nullptr;
  std::byte* const to = reach(x, i, lane, x.vreg<u64>(i->a)[lane],
                              {sizeof(tensor_map), tensor_map_alignment, memory_space::global,
                               access_kind::store, "the destination of tensormap.cp_fenceproxy: "});
  if (to == nullptr) return nullptr;
  std::memcpy(to, from, sizeof(tensor_map));
  return i + 1;
}

}  // namespace

void tensor_copy_ops(op_table& t) {
  using enum value_class;
  add_op(t, "<tensor copy>", &copy_tile, b64, b64, b64, b16);
  add_op(t, "<tensormap.replace>", &replace_field, none, b64, b64, none);
  add_op(t, "<tensormap.cp_fenceproxy>", &copy_map, none, b64, b64, none);
}

}  // namespace stepwise::emulator
