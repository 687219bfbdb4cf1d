// Lowering: loads, stores and atomic operations.
#include <algorithm>

#include "common/emulator/lower/lowering.hpp"
#include "common/emulator/machine/async.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

// The element type's name as memory ops use it, for a value kept in a register of `bits`.
std::string memory_type(std::string_view type, unsigned bits) {
  if (type.empty()) throw unsupported{"an access without a type"};
  const char kind = type[0] == 's' ? 's' : 'u';
  const unsigned width = type.ends_with("8")    ? 8
                         : type.ends_with("16") ? 16
                         : type.ends_with("32") ? 32
                         : type.ends_with("64") ? 64
                                                : 0;
  if (width == 0 || type.find('x') != std::string_view::npos)
    throw unsupported{"type ." + std::string(type)};
  return (kind == 's' && width < bits ? "s" : "u") + std::to_string(width);
}

struct memory_form {
  state_space space = state_space::none;
  unsigned vector = 1;
  bool polls = false, acquires = false, releases = false;
};

// The form of an access, by its modifiers. Cache hints (".L2::128B"), the weakest order and scopes
// change nothing here. An address of shared::cluster is one of shared memory, with the block in its
// upper bits (machine/context.hpp).
memory_form form_of(const ptx::instruction& i) {
  memory_form f;
  for (const std::string_view m : i.modifiers) {
    if (m == "global")
      f.space = state_space::global;
    else if (m.starts_with("shared"))
      f.space = state_space::shared;
    else if (m == "local")
      f.space = state_space::local;
    else if (m.starts_with("const"))
      f.space = state_space::constant;
    else if (m.starts_with("param"))
      f.space = state_space::param;
    else if (m == "v2")
      f.vector = 2;
    else if (m == "v4")
      f.vector = 4;
    else if (m == "v8" || m == "async" || m == "bulk")
      throw unsupported{"the instruction " + ptx::spelled(i)};
    else if (m == "volatile" || m == "relaxed" || m == "mmio" || m == "cv" || m == "cg")
      f.polls = true;  // .cv and .cg bypass caches that do not see other blocks' writes
    else if (m == "acquire")
      f.polls = f.acquires = true;
    else if (m == "release")
      f.releases = true;
  }
  return f;
}

constexpr std::string_view completion = "mbarrier::complete_tx::bytes";

// The access of st.async or red.async by itself.
ptx::instruction without_completion(const ptx::instruction& i) {
  ptx::instruction access = i;
  std::erase_if(access.modifiers,
                [](std::string_view m) { return m == "async" || m == completion; });
  access.operands.resize(2);
  return access;
}

const char* op_space(state_space s) {
  switch (s) {
    case state_space::global:
    case state_space::constant:
      return "global";
    case state_space::shared:
      return "shared";
    case state_space::local:
      return "local";
    case state_space::param:
      return "param";
    default:
      return "generic";
  }
}

}  // namespace

// A kernel parameter at a known offset is a vector register that is filled before the warp starts.
void lowering::load_parameter(const operand& to, std::string_view type, std::uint64_t at) {
  const unsigned bits = register_bits(to);
  const std::string memory = memory_type(type, bits);
  const unsigned bytes = type_bits(memory) / 8;
  if (bytes > out_.parameter_bytes || at > out_.parameter_bytes - bytes)
    throw unsupported{"a read outside the kernel's parameters"};
  const std::uint32_t vreg = new_vreg(class_of_bits(bits));
  out_.parameters.push_back(
      {vreg, bits / 8, bytes, memory[0] == 's', static_cast<std::uint32_t>(at)});
  fixed_vregs_.insert(vreg);
  if (!names_fixed_vreg(to, vreg))
    emit("mov.b" + std::to_string(bits), destination(to, class_of_bits(bits)), vreg);
}

void lowering::load() {
  memory_form f = form_of(*i_);
  const operand& to = i_->operands.at(0);
  const operand& from = i_->operands.at(1);
  std::vector<operand> results =
      to.kind == operand_kind::vector ? to.elements : std::vector<operand>{to};
  if (results.size() != f.vector) throw unsupported{"the instruction " + text()};
  if (f.space == state_space::param && is_in_frame(from.name)) f.space = state_space::local;
  if (f.space == state_space::param && find_register(from.name) == nullptr) {
    const std::uint64_t at =
        symbol_address(from.name, false) + static_cast<std::uint64_t>(from.offset);
    const unsigned bytes = type_bits(type()) / 8;
    for (std::size_t n = 0; n < results.size(); ++n)
      load_parameter(results[n], type(), at + n * bytes);
    return;
  }
  unsigned bits = 0;
  for (const operand& r : results) bits = std::max(bits, register_bits(r));
  if (bits == 0) bits = std::max(16u, type_bits(type()));
  const address at = memory_address(from, f.space);
  if (f.polls) emit("<poll>");
  const std::string vector = f.vector == 1 ? "" : ".v" + std::to_string(f.vector);
  const unsigned element = type_bits(memory_type(type(), bits)) / 8;
  const op_entry& r =
      find("ld" + vector + "." + op_space(f.space) + "." + memory_type(type(), bits) + ".b" +
           std::to_string(bits) + ".a" + std::to_string(at.bits));
  std::uint32_t vregs[4] = {};
  for (std::size_t n = 0; n < results.size(); ++n) vregs[n] = destination(results[n], r.d);
  access_site site = site_of(access_kind::load, f.space, element * f.vector);
  site.element_bytes = static_cast<std::uint8_t>(element);
  watch(site, at);
  op& e = emit(r, vregs[0], at.vreg);
  e.immediate = at.offset;
  e.slot = out_.window_count++;
  if (f.vector != 1) emit("<vregs>", vregs[0], vregs[1], vregs[2], vregs[3]);
  if (f.acquires) emit("<fence>");
}

void lowering::store() {
  if (has("async")) return access_async();
  memory_form f = form_of(*i_);
  const operand& to = i_->operands.at(0);
  if (f.space == state_space::param && is_in_frame(to.name)) f.space = state_space::local;
  const operand& from = i_->operands.at(1);
  const std::vector<operand> values =
      from.kind == operand_kind::vector ? from.elements : std::vector<operand>{from};
  if (values.size() != f.vector || f.space == state_space::param)
    throw unsupported{"the instruction " + text()};
  unsigned bits = 0;
  for (const operand& v : values) bits = std::max(bits, register_bits(v));
  if (bits == 0) bits = std::max(16u, type_bits(type()));
  const address at = memory_address(to, f.space);
  if (f.releases) emit("<fence>");
  const std::string vector = f.vector == 1 ? "" : ".v" + std::to_string(f.vector);
  std::string memory = memory_type(type(), bits);
  memory[0] = 'u';
  const op_entry& r = find("st" + vector + "." + op_space(f.space) + "." + memory + ".b" +
                           std::to_string(bits) + ".a" + std::to_string(at.bits));
  const value_class kind =
      type()[0] == 'f' && bits >= 32 ? (bits == 32 ? value_class::f32 : value_class::f64) : r.b;
  std::uint32_t vregs[4] = {};
  for (std::size_t n = 0; n < values.size(); ++n) vregs[n] = source(values[n], kind);
  const unsigned element = type_bits(memory) / 8;
  access_site site = site_of(access_kind::store, f.space, element * f.vector);
  site.element_bytes = static_cast<std::uint8_t>(element);
  site.value_bytes = static_cast<std::uint8_t>(bits / 8);
  std::copy(std::begin(vregs), std::end(vregs), std::begin(site.values));
  watch(site, at);
  op& e = emit(r, 0, at.vreg, vregs[0]);
  e.immediate = at.offset;
  e.slot = out_.window_count++;
  if (f.vector != 1) emit("<vregs>", vregs[0], vregs[1], vregs[2], vregs[3]);
}

// Whether anything in the function reads the register, or a register of the vector.
bool lowering::is_read(const operand& result) {
  if (!names_read_) names_read_ = ptx::names_read(body_);
  const auto reads = [&](const operand& o) { return names_read_->contains(o.name); };
  return reads(result) || std::ranges::any_of(result.elements, reads);
}

// atom.[sem.][scope.][space.]op.type d, [a], b[, c]; red has no d.
void lowering::atomic() {
  if (has("async")) return access_async();
  const bool reduction = i_->opcode == "red";
  const memory_form f = form_of(*i_);
  if (f.space != state_space::none && f.space != state_space::global &&
      f.space != state_space::shared)
    throw unsupported{"the instruction " + text()};
  std::string operation;
  for (const char* o : {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"})
    if (has(o)) operation = o;
  std::string kind(type());
  static constexpr std::string_view bitwise[] = {"and", "or", "xor", "exch", "cas"};
  if (std::ranges::find(bitwise, operation) != std::end(bitwise)) kind[0] = 'b';
  const std::size_t first = reduction ? 0 : 1;
  const std::vector<operand>& o = i_->operands;
  const address at = memory_address(o.at(first), f.space);
  const op_entry& r = find("atom." + std::string(op_space(f.space)) + "." + operation + "." + kind +
                           ".a" + std::to_string(at.bits));
  // Each element of a vector is a separate atomic operation.
  const auto element = [&](const operand& v, unsigned n) -> const operand& {
    return v.kind == operand_kind::vector ? v.elements.at(n) : v;
  };
  const unsigned bytes = bits_of(r.d) / 8;
  std::uint32_t results[8] = {};
  access_site site = site_of(access_kind::atomic, f.space, bytes * f.vector);
  site.element_bytes = static_cast<std::uint8_t>(bytes);
  if (!reduction && is_read(o[0])) emit("<poll>");
  if (f.vector != 1) {
    if (at.bits != 64) throw unsupported{"the instruction " + text()};
    emit("<aligned>", 0, at.vreg, f.vector * bytes).immediate = at.offset;
  }
  for (unsigned n = 0; n < f.vector; ++n) {
    const std::uint32_t b = source(element(o.at(first + 1), n), r.b);
    const bool third = o.size() > first + 2 && (operation == "cas");
    const std::uint32_t c = third ? source(o[first + 2], r.c) : b;
    const bool direct = !reduction && f.vector == 1;
    results[n] = direct ? destination(o[0], r.d) : new_vreg(r.d);
    if (n == 0) watch(site, at);
    op& e = emit(r, results[n], at.vreg, b, c);
    e.immediate = at.offset + static_cast<std::int64_t>(n * bytes);
    e.slot = out_.window_count++;
  }
  if (reduction || f.vector == 1) return;
  // Written after all operands have been read, since they may be the same registers.
  for (unsigned n = 0; n < f.vector; ++n)
    emit("mov.b" + std::to_string(8 * bytes), destination(element(o[0], n), r.d), results[n]);
}

// st.async.shared::cluster.mbarrier::complete_tx::bytes{.vector}.type [a], b, [mbarrier] and
// red.async: the access is made at once, and then its bytes are counted at the mbarrier.
void lowering::access_async() {
  if (!has("shared::cluster") || !has(completion) || i_->operands.size() != 3)
    throw unsupported{"the instruction " + text()};
  const ptx::instruction access = without_completion(*i_);
  const unsigned bytes = type_bits(type()) / 8 * form_of(access).vector;
  const std::uint32_t barrier = generic_address(i_->operands[2], state_space::shared);
  const ptx::instruction* const whole = std::exchange(i_, &access);
  i_->opcode == "st" ? store() : atomic();
  i_ = whole;
  emit("<mbarrier bytes>", 0, barrier, constant(value_class::b32, bytes)).immediate = subtracts;
}

}  // namespace stepwise::emulator
