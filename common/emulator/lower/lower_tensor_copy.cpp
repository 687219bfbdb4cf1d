// Lowering: copies of tensor tiles, and edits of tensor maps.
#include <algorithm>

#include "common/emulator/lower/lowering.hpp"
#include "common/emulator/machine/tensor_copy.hpp"

namespace stepwise::emulator {
namespace {

// All others (im2col::w, gather4, a mask of bytes ...) are refused.
bool is_known(std::string_view modifier) {
  static const std::unordered_set<std::string_view> known = {"async",
                                                             "reduce",
                                                             "bulk",
                                                             "prefetch",
                                                             "tensor",
                                                             "1d",
                                                             "2d",
                                                             "3d",
                                                             "4d",
                                                             "5d",
                                                             "L2",
                                                             "global",
                                                             "shared::cta",
                                                             "shared::cluster",
                                                             "tile",
                                                             "im2col",
                                                             "im2col_no_offs",
                                                             "bulk_group",
                                                             "mbarrier::complete_tx::bytes",
                                                             "multicast::cluster",
                                                             "L2::cache_hint"};
  return known.contains(modifier) ||
         std::ranges::find(reduction_names, modifier) != std::end(reduction_names);
}

struct named_field {
  std::string_view name;
  tensor_map_field field;
  bool has_dimension;
};
constexpr named_field fields[] = {
    {"global_address", tensor_map_field::address, false},
    {"rank", tensor_map_field::rank, false},
    {"box_dim", tensor_map_field::box, true},
    {"global_dim", tensor_map_field::size, true},
    {"global_stride", tensor_map_field::stride, true},
    {"element_stride", tensor_map_field::element_stride, true},
    {"elemtype", tensor_map_field::type, false},
    {"interleave_layout", tensor_map_field::interleave, false},
    {"swizzle_mode", tensor_map_field::swizzle, false},
    {"fill_mode", tensor_map_field::fill, false},
};

// By the number that PTX gives to a type.
constexpr tensor_type types_of_ptx[] = {
    tensor_type::u8,      tensor_type::u16, tensor_type::u32,  tensor_type::s32,
    tensor_type::u64,     tensor_type::s64, tensor_type::f16,  tensor_type::f32,
    tensor_type::f32_ftz, tensor_type::f64, tensor_type::bf16, tensor_type::tf32,
    tensor_type::tf32_ftz};

}  // namespace

// [map, {coordinates}]: the vregs of the coordinates, and of the map's generic address.
std::uint32_t lowering::tensor_operand(const operand& o, std::uint32_t (&coordinates)[5],
                                       unsigned rank) {
  if (o.kind != operand_kind::memory || o.elements.size() != 1)
    throw unsupported{"the instruction " + text()};
  const operand& given = o.elements[0];
  const std::vector<operand> one{given};
  const std::vector<operand>& parts = given.kind == operand_kind::vector ? given.elements : one;
  if (parts.size() != rank) throw unsupported{"the instruction " + text()};
  for (unsigned d = 0; d < rank; ++d) coordinates[d] = source(parts[d], value_class::b32);
  operand map = o;
  map.elements.clear();
  return generic_address(map, state_space::none);
}

// The offsets of the pixel dimensions: {offsets} or a single offset.
void lowering::pixel_offsets(const operand& o, tensor_copy_form& f) {
  const std::vector<operand> one{o};
  const std::vector<operand>& parts = o.kind == operand_kind::vector ? o.elements : one;
  if (parts.size() != f.rank - 2) throw unsupported{"the instruction " + text()};
  for (unsigned d = 0; d < parts.size(); ++d) f.offsets[d] = source(parts[d], value_class::b16);
}

// Load: cp.async.bulk.tensor.dim.dst.global{.tile|.im2col}.completion{.multicast} [d], [map, {c}],
// [mbarrier]{, {offsets}}{, blocks}{, policy}. Store:
// cp.async.bulk.tensor.dim.global.src{.tile|.im2col_no_offs}.bulk_group [map, {c}], [a]{, policy},
// and cp.reduce.async.bulk.tensor with an operation. A prefetch has no effect.
void lowering::tensor_copy() {
  const unsupported refusal{"the instruction " + text()};
  if (!std::ranges::all_of(i_->modifiers, is_known)) throw refusal;
  tensor_copy_form f;
  for (unsigned d = 1; d <= most_tensor_dimensions; ++d)
    if (has(std::to_string(d) + "d")) f.rank = d;
  if (f.rank == 0) throw refusal;
  if (has("prefetch")) return;
  const std::vector<operand>& o = i_->operands;
  const bool loads = has("mbarrier::complete_tx::bytes");
  f.has_offsets = has("im2col");
  f.is_im2col = has("im2col") || has("im2col_no_offs");
  if (f.is_im2col && (f.rank < 3 || f.has_offsets != loads)) throw refusal;
  const std::uint32_t box = generic_address(o.at(loads ? 0 : 1), state_space::shared);
  const std::uint32_t map = tensor_operand(o.at(loads ? 1 : 0), f.coordinates, f.rank);
  std::uint32_t barrier = 0, blocks = 0;
  if (loads) {
    barrier = generic_address(o.at(2), state_space::shared);
    if (f.has_offsets) pixel_offsets(o.at(3), f);
    if (has("multicast::cluster")) blocks = source(o.at(f.has_offsets ? 4 : 3), value_class::b16);
    watch_ranges(access_kind::load, state_space::global);
    watch_ranges(access_kind::store, state_space::shared);
  } else {
    f.what = has("reduce") ? emulator::tensor_copy::reduce : emulator::tensor_copy::store;
    for (unsigned n = 0; n < std::size(reduction_names); ++n)
      if (has(reduction_names[n])) f.operation = static_cast<reduction>(n);
    out_.writes_in_bulk = true;
    watch_ranges(access_kind::load, state_space::shared);
    watch_ranges(has("reduce") ? access_kind::atomic : access_kind::store, state_space::global);
  }
  out_.tensor_copies.push_back(f);
  emit("<tensor copy>", barrier, box, map, blocks).immediate =
      reinterpret_cast<std::int64_t>(&out_.tensor_copies.back());
}

// tensormap.replace.tile.field{.space}.b1024.type [map]{, dimension}, value.
void lowering::edit_tensor_map() {
  const unsupported refusal{"the instruction " + text()};
  if (has("cp_fenceproxy")) return copy_tensor_map();
  const auto* const found =
      std::ranges::find_if(fields, [&](const named_field& f) { return has(f.name); });
  if (!has("replace") || !has("tile") || found == std::end(fields)) throw refusal;
  const std::vector<operand>& o = i_->operands;
  const bool shared = has("shared::cta") || has("shared");
  if (!shared) out_.writes_in_bulk = true;
  const std::uint32_t map =
      generic_address(o.at(0), shared ? state_space::shared
                                      : (has("global") ? state_space::global : state_space::none));
  std::uint64_t dimension = 0;
  if (found->has_dimension) {
    const operand& given = o.at(1);
    const unsigned dimensions =
        most_tensor_dimensions - (found->field == tensor_map_field::stride ? 1 : 0);
    if (given.kind != operand_kind::integer || given.bits >= dimensions) throw refusal;
    dimension = given.bits;
  }
  operand value = o.at(found->has_dimension ? 2 : 1);
  if (found->field >= tensor_map_field::type) {  // an immediate
    if (value.kind != operand_kind::integer) throw refusal;
    if (found->field == tensor_map_field::interleave && value.bits >= tensor_interleaves)
      throw refusal;
    if (found->field == tensor_map_field::type) {
      if (value.bits >= std::size(types_of_ptx)) throw refusal;
      value.bits = static_cast<std::uint64_t>(types_of_ptx[value.bits]);
    }
  }
  const value_class k = type() == "b64" ? value_class::b64 : value_class::b32;
  const bool is_wide =
      found->field == tensor_map_field::address || found->field == tensor_map_field::stride;
  if (is_wide != (k == value_class::b64)) throw refusal;
  emit("<tensormap.replace>", 0, map, source(value, k)).immediate = static_cast<std::int64_t>(
      static_cast<unsigned>(found->field) + dimension * tensor_map_fields);
}

// tensormap.cp_fenceproxy.global.shared::cta...sync.aligned [d], [a], 128. The proxies of the
// emulator need no fence.
void lowering::copy_tensor_map() {
  const std::vector<operand>& o = i_->operands;
  const operand& size = o.at(2);
  if (size.kind != operand_kind::integer || size.bits != sizeof(tensor_map))
    throw unsupported{"the instruction " + text()};
  out_.writes_in_bulk = true;
  const std::uint32_t to = generic_address(o.at(0), state_space::global);
  const std::uint32_t from = generic_address(o.at(1), state_space::shared);
  whole_warp();
  emit("<tensormap.cp_fenceproxy>", 0, to, from);
}

}  // namespace stepwise::emulator
