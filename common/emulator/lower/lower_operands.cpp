// Lowering: storage for registers, constants and variables, and the lowering of operands.
#include <algorithm>
#include <bit>
#include <charconv>
#include <unordered_set>

#include "common/device/names.hpp"
#include "common/emulator/lower/lowering.hpp"
#include "common/emulator/machine/modules.hpp"
#include "common/emulator/ops/ops_async.hpp"
#include "common/emulator/ops/ops_texture.hpp"

namespace stepwise::emulator {
namespace {

using op_index = std::unordered_map<std::string_view, const op_entry*>;

const op_index& all_ops() {
  static const op_table table = [] {
    op_table t;
    const op_set& best = best_op_set();
    best.integer(t);
    best.floating(t);
    best.compare(t);
    best.convert(t);
    best.memory(t);
    best.matrix(t);
    best.warpgroup(t);
    best.half(t);
    best.rounding(t);
    for (const auto add_ops :
         {atomic_ops, control_ops, watch_ops, narrow_ops, carry_ops, packed_ops, video_ops,
          async_ops, call_ops, texture_ops, tensor_copy_ops})
      add_ops(t);
    return t;
  }();
  static const op_index index = [] {
    op_index m;
    for (const op_entry& r : table) m.emplace(r.name.text(), &r);
    return m;
  }();
  return index;
}

struct special_name {
  special which;
  unsigned natural;  // width in bits
};

const special_name* find_special(std::string_view name) {
  static const std::unordered_map<std::string_view, special_name> names = {
      {"%tid.x", {special::tid_x, 32}},
      {"%tid.y", {special::tid_y, 32}},
      {"%tid.z", {special::tid_z, 32}},
      {"%ntid.x", {special::ntid_x, 32}},
      {"%ntid.y", {special::ntid_y, 32}},
      {"%ntid.z", {special::ntid_z, 32}},
      {"%ctaid.x", {special::ctaid_x, 32}},
      {"%ctaid.y", {special::ctaid_y, 32}},
      {"%ctaid.z", {special::ctaid_z, 32}},
      {"%nctaid.x", {special::nctaid_x, 32}},
      {"%nctaid.y", {special::nctaid_y, 32}},
      {"%nctaid.z", {special::nctaid_z, 32}},
      {"%laneid", {special::laneid, 32}},
      {"%warpid", {special::warpid, 32}},
      {"%nwarpid", {special::nwarpid, 32}},
      {"%smid", {special::smid, 32}},
      {"%nsmid", {special::nsmid, 32}},
      {"%gridid", {special::gridid, 64}},
      {"%lanemask_eq", {special::lanemask_eq, 32}},
      {"%lanemask_lt", {special::lanemask_lt, 32}},
      {"%lanemask_le", {special::lanemask_le, 32}},
      {"%lanemask_gt", {special::lanemask_gt, 32}},
      {"%lanemask_ge", {special::lanemask_ge, 32}},
      {"%dynamic_smem_size", {special::dynamic_smem_size, 32}},
      {"%total_smem_size", {special::total_smem_size, 32}},
      {"%aggr_smem_size", {special::total_smem_size, 32}},
      {"%clusterid.x", {special::clusterid_x, 32}},
      {"%clusterid.y", {special::clusterid_y, 32}},
      {"%clusterid.z", {special::clusterid_z, 32}},
      {"%nclusterid.x", {special::nclusterid_x, 32}},
      {"%nclusterid.y", {special::nclusterid_y, 32}},
      {"%nclusterid.z", {special::nclusterid_z, 32}},
      {"%cluster_ctaid.x", {special::cluster_ctaid_x, 32}},
      {"%cluster_ctaid.y", {special::cluster_ctaid_y, 32}},
      {"%cluster_ctaid.z", {special::cluster_ctaid_z, 32}},
      {"%cluster_nctaid.x", {special::cluster_nctaid_x, 32}},
      {"%cluster_nctaid.y", {special::cluster_nctaid_y, 32}},
      {"%cluster_nctaid.z", {special::cluster_nctaid_z, 32}},
      {"%cluster_ctarank", {special::cluster_ctarank, 32}},
      {"%cluster_nctarank", {special::cluster_nctarank, 32}},
      {"%is_explicit_cluster", {special::is_explicit_cluster, 0}},
      {"%envreg1", {special::grid_workspace_high, 32}},
      {"%envreg2", {special::grid_workspace_low, 32}},
  };
  const auto found = names.find(name);
  return found == names.end() ? nullptr : &found->second;
}

// Special registers with the same value in all threads: addresses in the system's part of shared
// memory (PTX does not define the two numbered ones), and performance counters.
const std::uint64_t* find_fixed_special(std::string_view name) {
  static const std::unordered_map<std::string_view, std::uint64_t> values = {
      {"%reserved_smem_offset_begin", 0},
      {"%reserved_smem_offset_end", reserved_shared_bytes},
      {"%reserved_smem_offset_cap", reserved_shared_bytes},
      {"%reserved_smem_offset_0", 0},
      {"%reserved_smem_offset_1", reserved_shared_bytes / 2},
  };
  static constexpr std::uint64_t zero = 0;
  if (name.starts_with("%pm") && name.size() >= 4 && name[3] >= '0' && name[3] <= '7') return &zero;
  if (name.starts_with("%envreg")) return &zero;  // the driver's; the two for grid.sync are above
  const auto found = values.find(name);
  return found == values.end() ? nullptr : &found->second;
}

}  // namespace

bool has_ops(std::string_view opcode) {
  static const std::unordered_set<std::string_view> opcodes = [] {
    std::unordered_set<std::string_view> all;
    for (const auto& [name, r] : all_ops()) all.insert(name.substr(0, name.find('.')));
    return all;
  }();
  return opcodes.contains(opcode);
}

unsigned bits_of(value_class k) {
  switch (k) {
    case value_class::b16:
      return 16;
    case value_class::b32:
    case value_class::f32:
      return 32;
    case value_class::b64:
    case value_class::f64:
      return 64;
    default:
      return 0;
  }
}

value_class class_of_bits(unsigned bits) {
  return bits == 16 ? value_class::b16 : bits == 32 ? value_class::b32 : value_class::b64;
}

unsigned type_bits(std::string_view type) {
  unsigned bits = 0;
  for (std::size_t n = 1; n < type.size() && bits < 1000; ++n) {
    if (type[n] < '0' || type[n] > '9') break;
    bits = 10 * bits + static_cast<unsigned>(type[n] - '0');
  }
  return bits;
}

// --- storage -----------------------------------------------------------------------------------

std::uint32_t lowering::take(unsigned vreg_bytes) {
  if (vreg_bytes == 0) throw unsupported{"the operands of " + text()};
  if (next_vreg_ > most_vreg_bytes) throw unsupported{"a function with that many values"};
  const std::uint32_t align = std::min(vreg_bytes, 64u);
  next_vreg_ = (next_vreg_ + align - 1) / align * align;
  const std::uint32_t at = next_vreg_;
  next_vreg_ += vreg_bytes;
  return at;
}

std::uint32_t lowering::new_vreg(value_class k) {
  return take(k == value_class::predicate ? 4 : bits_of(k) / 8 * lanes);
}

std::uint32_t lowering::constant(value_class k, std::uint64_t value) {
  const unsigned bytes = bits_of(k) / 8;  // 0 for a predicate
  if (bytes != 0 && bytes < 8) value &= (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto [at, fresh] = constants_.try_emplace({bytes, value}, 0);
  if (fresh) {
    at->second = new_vreg(k);
    frame_.constants.push_back({at->second, bytes, value});
    fixed_vregs_.insert(at->second);
  }
  return at->second;
}

std::uint32_t lowering::vreg_of_special(special which, unsigned bits) {
  const auto [at, fresh] = specials_.try_emplace({static_cast<int>(which), bits}, 0);
  if (fresh) {
    at->second = new_vreg(class_of_bits(bits));
    frame_.specials.push_back({at->second, bits / 8, which});
    fixed_vregs_.insert(at->second);
  }
  return at->second;
}

void lowering::declare_registers() {
  for (const ptx::register_declaration& r : body_.registers) {
    value_class k;
    if (r.type == scalar_type::pred)
      k = value_class::predicate;
    else if (const unsigned bytes = ptx::bytes_of(r.type);
             bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
      k = class_of_bits(std::max(16u, 8 * bytes));
    else
      throw unsupported{"registers of type ." + std::string(ptx::name_of(r.type))};
    if (r.vector_length != 1) throw unsupported{"vector registers"};
    const std::string prefix(r.name);
    if (r.count == 0)
      registers_[prefix] = {k, no_operand};
    else
      counted_registers_[r.name] = {k, r.count};
  }
}

// One of %r0 ... of a declaration %r<count>. Most of a large declaration is never used, so each
// register is created when it is first needed.
const lowering::counted_register* lowering::find_counted(std::string_view name) const {
  std::size_t digits = 0;
  while (digits < name.size() && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9')
    ++digits;
  // "%r12" may be number 12 of %r<>, or number 2 of %r1<>.
  for (std::size_t n = std::min<std::size_t>(digits, 9); n > 0; --n) {
    const std::string_view number = name.substr(name.size() - n);
    if (n > 1 && number[0] == '0') continue;
    const auto found = counted_registers_.find(name.substr(0, name.size() - n));
    if (found == counted_registers_.end()) continue;
    std::uint32_t value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    if (value < found->second.count) return &found->second;
  }
  return nullptr;
}

const register_info* lowering::find_register(std::string_view name) {
  auto found = registers_.find(std::string(name));
  if (found == registers_.end()) {
    const counted_register* const counted = find_counted(name);
    if (counted == nullptr) return nullptr;
    found = registers_.emplace(name, register_info{counted->kind, no_operand}).first;
  }
  if (found->second.offset == no_operand) found->second.offset = new_vreg(found->second.kind);
  return &found->second;
}

void lowering::place_variables() {
  place_call_variables();
  std::uint64_t local = frame_.local_bytes;
  const std::uint64_t before = local;
  for (const ptx::variable& v : body_.variables) {
    if (v.space == state_space::shared) {
      locals_[v.name] = {state_space::shared, plan_.shared_offset(&v)};
    } else if (v.space == state_space::local || v.space == state_space::param) {
      const std::uint64_t align = std::max(1u, v.alignment);
      local = (local + align - 1) / align * align;
      locals_[v.name] = {state_space::local, local};
      if (v.space == state_space::param) call_variables_.emplace(v.name, &v);
      local += v.bytes;
      if (v.space == state_space::local) frame_.stack_bytes += v.bytes;
    }
  }
  frame_.local_end = local;
  if (local > most_local_bytes) {
    throw unsupported{std::to_string(local) + " bytes of local memory: a thread has at most " +
                      std::to_string(most_local_bytes)};
  }
  if (local != before || before != 0) frame_.local_bytes = (local + 15) / 16 * 16;
}

// A kernel's parameters have their own buffer. Those of other functions are in their frames.
void lowering::place_call_variables() {
  if (is_kernel()) {
    std::uint64_t at = 0;
    for (const ptx::variable& p : function_.parameters) {
      const std::uint64_t align = std::max(1u, p.alignment);
      at = (at + align - 1) / align * align;
      locals_[p.name] = {state_space::param, at};
      at += p.bytes;
    }
    out_.parameter_bytes = at;
    return;
  }
  std::vector<std::uint32_t> offsets;
  frame_.local_bytes = frame_offsets(function_.returns, function_.parameters, offsets);
  std::size_t n = 0;
  for (const auto* list : {&function_.returns, &function_.parameters})
    for (const ptx::variable& v : *list) locals_[v.name] = {state_space::local, offsets[n++]};
}

bool lowering::is_in_frame(std::string_view name) const {
  const auto at = locals_.find(name);
  return at != locals_.end() && at->second.first == state_space::local;
}

// The address is relative to the frame's base if the name is in the frame of a function other than
// the kernel.
std::uint64_t lowering::symbol_address(std::string_view name, bool generic) const {
  if (const auto at = locals_.find(name); at != locals_.end()) {
    const auto [space, offset] = at->second;
    if (!generic) return offset;
    return offset + (space == state_space::shared  ? shared_window
                     : space == state_space::local ? local_window
                                                   : parameter_window);
  }
  if (const ptx::variable* v = module_.find_variable(name); v != nullptr && plan_.has_shared(v))
    return plan_.shared_offset(v) + (generic ? shared_window : 0);
  if (const std::uint64_t at = plan_.unit().address_of(part_, name); at != 0) return at;
  throw unsupported{"the name " + std::string(name) + ", which is not a register or variable"};
}

// The address of a name as a vreg: a constant for the kernel's frame, otherwise a sum.
std::uint32_t lowering::symbol_vreg(std::string_view name, value_class k, bool generic,
                                    std::int64_t offset) {
  const std::uint64_t at = symbol_address(name, generic) + static_cast<std::uint64_t>(offset);
  if (is_kernel() || !is_in_frame(name)) return constant(k, at);
  const std::uint32_t vreg = new_vreg(k);
  emit(bits_of(k) == 32 ? "add.u32" : "add.u64", vreg,
       vreg_of_special(special::frame_base, bits_of(k)), constant(k, at));
  return vreg;
}

// --- operands ----------------------------------------------------------------------------------

unsigned lowering::register_bits(const operand& o) {
  if (o.kind != operand_kind::name) return 0;
  if (const register_info* r = find_register(o.name)) return bits_of(r->kind);
  if (const special_name* s = find_special(o.name)) return s->natural;
  return 0;
}

std::uint32_t lowering::source(const operand& o, value_class k) {
  switch (o.kind) {
    case operand_kind::name: {
      if (const register_info* r = find_register(o.name)) {
        const bool fits =
            k == value_class::predicate ? r->kind == k : bits_of(r->kind) == bits_of(k);
        if (!fits) throw unsupported{"register " + std::string(o.name) + " of another width"};
        if (!o.negated) return r->offset;
        const std::uint32_t vreg = new_vreg(k);
        if (k == value_class::predicate)
          emit("not.pred", vreg, r->offset, r->offset);
        else
          throw unsupported{"a negated register"};
        return vreg;
      }
      if (const special_name* s = find_special(o.name))
        return vreg_of_special(s->which, bits_of(k));
      if (const std::uint64_t* value = find_fixed_special(o.name)) return constant(k, *value);
      if (o.name == "WARP_SZ") return constant(k, 32);
      return symbol_vreg(o.name, k, false, 0);
    }
    case operand_kind::offset:
      return symbol_vreg(o.name, k, false, o.offset);
    case operand_kind::integer:
      if (k == value_class::f32)
        return constant(
            k, std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(o.bits))));
      if (k == value_class::f64)
        return constant(k, std::bit_cast<std::uint64_t>(
                               static_cast<double>(static_cast<std::int64_t>(o.bits))));
      return constant(k, o.bits);
    case operand_kind::float32:
      if (k == value_class::f64 || k == value_class::b64) {
        return constant(k, std::bit_cast<std::uint64_t>(static_cast<double>(
                               std::bit_cast<float>(static_cast<std::uint32_t>(o.bits)))));
      }
      return constant(k, o.bits);
    case operand_kind::float64:
      if (bits_of(k) == 32)
        return constant(
            k, std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))));
      return constant(k, o.bits);
    default:
      throw unsupported{"an operand of this form"};
  }
}

std::uint32_t lowering::destination(const operand& o, value_class k) {
  if (o.kind == operand_kind::sink || (o.kind == operand_kind::name && o.name == "_"))
    return new_vreg(k);
  const register_info* r = o.kind == operand_kind::name ? find_register(o.name) : nullptr;
  if (r == nullptr) throw unsupported{"a result that is not a register"};
  const bool fits = k == value_class::predicate ? r->kind == k : bits_of(r->kind) == bits_of(k);
  if (!fits) throw unsupported{"register " + std::string(o.name) + " of another width"};
  return r->offset;
}

lowering::address lowering::memory_address(const operand& o, state_space space) {
  if (o.kind != operand_kind::memory || !o.elements.empty())
    throw unsupported{"an address of this form"};
  if (o.name.empty()) return {constant(value_class::b64, 0), o.offset, 64};
  if (const register_info* r = find_register(o.name))
    return {r->offset, o.offset, bits_of(r->kind)};
  const bool narrow = space == state_space::shared || space == state_space::local;
  const value_class k = narrow ? value_class::b32 : value_class::b64;
  if (space == state_space::local && !is_kernel() && is_in_frame(o.name)) {
    const auto at = static_cast<std::int64_t>(symbol_address(o.name, false));
    return {vreg_of_special(special::frame_base, 32), at + o.offset, 32};
  }
  return {symbol_vreg(o.name, k, space == state_space::none, 0), o.offset, bits_of(k)};
}

// --- emission ----------------------------------------------------------------------------------

const op_entry* lowering::look_up(const std::string& name) const {
  const auto found = all_ops().find(name);
  return found == all_ops().end() ? nullptr : found->second;
}

const op_entry& lowering::find(const std::string& name) const {
  const op_entry* r = look_up(name);
  if (r == nullptr) throw unsupported{"the instruction " + text()};
  return *r;
}

op& lowering::emit(const op_entry& r, std::uint32_t d, std::uint32_t a, std::uint32_t b,
                   std::uint32_t c) {
  out_.code.push_back({r.run, d, a, b, c, 0, ordinal_, 0});
  out_.instruction.push_back(
      written_ == nullptr ? -1 : static_cast<std::int32_t>(written_ - body_.instructions.data()));
  return out_.code.back();
}

op& lowering::emit(const std::string& name, std::uint32_t d, std::uint32_t a, std::uint32_t b,
                   std::uint32_t c) {
  return emit(find(name), d, a, b, c);
}

bool lowering::has(std::string_view modifier) const {
  return std::ranges::find(i_->modifiers, modifier) != i_->modifiers.end();
}

}  // namespace stepwise::emulator
