// Sorts instructions by opcode, modifiers and type: sums, products, pure ones, ends of blocks.
#include "common/emulator/lower/fusible.hpp"

#include <algorithm>
#include <array>

#include "common/ptx/traits.hpp"

namespace stepwise::emulator::fusible {

using ptx::operand;
using ptx::operand_kind;

bool has(const instruction& i, std::string_view modifier) {
  return std::ranges::find(i.modifiers, modifier) != i.modifiers.end();
}

bool has_any(const instruction& i, std::initializer_list<std::string_view> modifiers) {
  return std::ranges::any_of(modifiers, [&](std::string_view m) { return has(i, m); });
}

scalar_type type_of(const instruction& i) {
  for (const std::string_view m : i.modifiers)
    if (const scalar_type t = ptx::type_of(m); t != scalar_type::none) return t;
  return scalar_type::none;
}

namespace {

bool is_floating(scalar_type t) {
  static constexpr std::array floating = {scalar_type::f32,  scalar_type::f64,
                                          scalar_type::f16,  scalar_type::f16x2,
                                          scalar_type::bf16, scalar_type::bf16x2};
  return std::ranges::find(floating, t) != floating.end();
}

bool is_contractible(const instruction& i) {
  return i.operands.size() == 3 && is_floating(type_of(i)) &&
         std::ranges::all_of(i.modifiers, [](std::string_view m) {
           return m == "ftz" || m == "sat" || ptx::type_of(m) != scalar_type::none;
         });
}

}  // namespace

bool is_half(scalar_type t) {
  return is_floating(t) && t != scalar_type::f32 && t != scalar_type::f64;
}

bool is_pure(const instruction& i) { return ptx::traits_of(i).is_pure; }

bool gives_result(const instruction& i) {
  using enum ptx::instruction_kind;
  const ptx::traits t = ptx::traits_of(i);
  return !i.operands.empty() && (t.is_pure || t.kind == warp ||
                                 ((t.kind == load || t.kind == atomic) && ptx::has_result(i)));
}

bool divides_block(const instruction& i) {
  const std::string_view o = i.opcode;
  const scalar_type type = type_of(i);
  if (!i.guard.empty() && o != "bra") {
    const bool selects = (is_pure(i) && !has(i, "cc") && !o.ends_with('c')) ||
                         ((o == "ld" || o == "ldu") && has_any(i, {"param", "const"}));
    if (!selects) return true;
  }
  if (o == "call" || o == "brkpt" || o == "trap") return true;
  if (o == "membar" || o == "fence")
    return std::ranges::none_of(i.modifiers, [](auto m) { return m.starts_with("proxy"); }) &&
           !has(i, "mbarrier_init");
  if (o == "rem" || (o == "div" && !is_floating(type))) return type != scalar_type::u32;
  if (o == "div") return !has_any(i, {"full", "approx"});
  if (o == "rcp" || o == "sqrt") return !has(i, "approx");
  if (o == "rsqrt") return type == scalar_type::f64 && !has(i, "ftz");
  if (o == "bfind") return ptx::bytes_of(type) == 8;
  if (o == "mma" || o == "wmma") return has_any(i, {"s4", "u4", "b1"});
  return o == "griddepcontrol" && has(i, "launch_dependents");
}

bool is_sum(const instruction& i) {
  return (i.opcode == "add" || i.opcode == "sub") && is_contractible(i);
}

bool is_quotient(const instruction& i) {
  return i.opcode == "div" && i.guard.empty() && i.operands.size() == 3 &&
         type_of(i) == scalar_type::f32 && has_any(i, {"approx", "full"});
}

bool is_product(const instruction& i) {
  return is_quotient(i) ||
         (i.opcode == "mul" && i.guard.empty() && is_contractible(i) && !has(i, "sat"));
}

std::uint64_t bits_of_one(scalar_type type) {
  switch (type) {
    case scalar_type::f32:
      return 0x3f800000;
    case scalar_type::f64:
      return 0x3ff0000000000000;
    case scalar_type::f16:
      return 0x3c00;
    default:
      return 0;
  }
}

std::uint64_t sign_bit(scalar_type type) { return std::uint64_t{1} << (8 * bytes_of(type) - 1); }

bool compares_with_zero(const instruction& i) {
  static constexpr std::array relations = {"lt", "gt", "ne", "equ", "leu", "geu"};
  const auto is_zero = [](const operand& o) {
    return (o.kind == operand_kind::float32 || o.kind == operand_kind::integer) &&
           (o.bits & 0x7fffffff) == 0;
  };
  return (i.opcode == "setp" || i.opcode == "set") && i.operands.size() == 3 &&
         !i.modifiers.empty() && !has_any(i, {"and", "or", "xor"}) &&
         std::ranges::find(relations, i.modifiers.front()) != relations.end() &&
         (is_zero(i.operands[1]) || is_zero(i.operands[2]));
}

}  // namespace stepwise::emulator::fusible
