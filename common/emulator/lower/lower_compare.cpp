// Lowering: comparisons and selections.
#include <algorithm>
#include <map>

#include "common/emulator/lower/lowering.hpp"

namespace stepwise::emulator {
namespace {

// The relation of setp or set, by the name that ops use.
std::string relation_of(const ptx::instruction& i) {
  static const std::map<std::string_view, std::string> unsigned_names = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  const std::string_view name = i.modifiers.at(0);
  const auto u = unsigned_names.find(name);
  return u == unsigned_names.end() ? std::string(name) : u->second;
}

}  // namespace

bool is_half(std::string_view type) {
  return type == "f16" || type == "bf16" || type == "f16x2" || type == "bf16x2";
}

// holds = a relation b, for the registers a and b with values of type `kind`.
void lowering::compare(const std::string& relation, const std::string& kind, std::uint32_t holds,
                       std::uint32_t a, std::uint32_t b) {
  if (!is_half(kind)) {
    emit("setp." + relation + (has("ftz") ? ".ftz." : ".") + kind, holds, a, b);
    return;
  }
  if (has("ftz")) {
    for (std::uint32_t* operand_vreg : {&a, &b}) {
      const std::uint32_t flushed = new_vreg(value_class::b16);
      emit("<ftz>." + kind, flushed, *operand_vreg);
      *operand_vreg = flushed;
    }
  }
  emit("setp." + relation + "." + kind, holds, a, b);
}

// to = value, combined with `other` by the instruction's .and, .or or .xor.
void lowering::give_predicate(const operand& to, std::uint32_t value, std::uint32_t other) {
  const std::uint32_t d = destination(to, value_class::predicate);
  for (const char* c : {"and", "or", "xor"})
    if (has(c)) return void(emit(std::string(c) + ".pred", d, value, other));
  emit("mov.pred", d, value, value);
}

// setp.cmp[.bool][.ftz].type p[|q], a, b[, c]
void lowering::set_predicate() {
  const std::string relation = relation_of(*i_);
  std::string kind(type());
  if (kind[0] == 'b' && !is_half(kind)) kind[0] = 'u';
  const std::vector<operand>& o = i_->operands;
  const bool pair = o.at(0).kind == operand_kind::pair;
  const operand& first = pair ? o[0].elements.at(0) : o[0];
  const bool combines = has("and") || has("or") || has("xor");
  const std::uint32_t other = combines ? source(o.at(3), value_class::predicate) : 0;
  if (kind.ends_with("x2")) {  // a result for the lower halves and one for the upper halves
    const std::string part = kind.substr(0, kind.size() - 2);
    const std::uint32_t a = source(o.at(1), value_class::b32);
    const std::uint32_t b = source(o.at(2), value_class::b32);
    std::uint32_t holds[2];
    for (unsigned n = 0; n < 2; ++n) {
      holds[n] = new_vreg(value_class::predicate);
      compare(relation, part, holds[n], part_of(a, 32, 16, n), part_of(b, 32, 16, n));
    }
    if (pair) give_predicate(o[0].elements.at(1), holds[1], other);
    give_predicate(first, holds[0], other);
    return;
  }
  const op_entry& r =
      find("setp." + relation + (has("ftz") && !is_half(kind) ? ".ftz." : ".") + kind);
  const std::uint32_t a = source(o.at(1), r.a), b = source(o.at(2), r.b);
  if (!pair && !combines) {
    compare(relation, kind, destination(first, value_class::predicate), a, b);
    return;
  }
  const std::uint32_t holds = new_vreg(value_class::predicate),
                      fails = new_vreg(value_class::predicate);
  compare(relation, kind, holds, a, b);
  emit("not.pred", fails, holds, holds);
  // The first result may be `other` itself, so it is written last.
  if (pair) give_predicate(o[0].elements.at(1), fails, other);
  give_predicate(first, holds, other);
}

// set.cmp[.bool][.ftz].dtype.atype d, a, b[, c]: all ones, or 1.0, where the comparison holds; for
// pairs in each half.
void lowering::set_value() {
  const std::string relation = relation_of(*i_);
  const std::string to(i_->modifiers.at(i_->modifiers.size() - 2));
  std::string from(type());
  if (from[0] == 'b' && !is_half(from)) from[0] = 'u';
  const std::vector<operand>& o = i_->operands;
  const bool pairs = from.ends_with("x2");
  const std::string one = pairs ? from.substr(0, from.size() - 2) : from;
  const op_entry& r =
      find("setp." + relation + (has("ftz") && !is_half(from) ? ".ftz." : ".") + one);
  const unsigned bits = pairs ? 32 : std::max(16u, register_bits(o.at(0)));
  const value_class wide = class_of_bits(bits);
  const std::uint64_t yes = to == "f32"      ? 0x3f800000u
                            : to == "f16"    ? 0x3c00u
                            : to == "bf16"   ? 0x3f80u
                            : to == "f16x2"  ? 0x3c003c00u
                            : to == "bf16x2" ? 0x3f803f80u
                                             : 0xffffffffu;
  const std::uint32_t a = source(o.at(1), pairs ? value_class::b32 : r.a);
  const std::uint32_t b = source(o.at(2), pairs ? value_class::b32 : r.b);
  const bool combines = has("and") || has("or") || has("xor");
  const std::uint32_t other = combines ? source(o.at(3), value_class::predicate) : 0;
  std::uint32_t result = constant(wide, 0);
  for (unsigned n = 0; n < (pairs ? 2 : 1); ++n) {
    std::uint32_t holds = new_vreg(value_class::predicate);
    if (pairs)
      compare(relation, one, holds, part_of(a, 32, 16, n), part_of(b, 32, 16, n));
    else
      compare(relation, from, holds, a, b);
    for (const char* c : {"and", "or", "xor"}) {
      if (!has(c)) continue;
      const std::uint32_t combined = new_vreg(value_class::predicate);
      emit(std::string(c) + ".pred", combined, holds, other);
      holds = combined;
    }
    const std::uint64_t part = pairs ? 0xffffu << (16 * n) : ~0u;
    const std::uint32_t chosen = new_vreg(wide);
    emit("selp.b" + std::to_string(bits), chosen, constant(wide, yes & part), constant(wide, 0),
         holds);
    const std::uint32_t sum = new_vreg(wide);
    emit("or.b" + std::to_string(bits), sum, result, chosen);
    result = sum;
  }
  emit("mov.b" + std::to_string(bits), destination(o.at(0), wide), result);
}

// slct[.ftz].dtype.ctype d, a, b, c: c >= 0 ? a : b.
void lowering::select_by_sign() {
  const std::string to(i_->modifiers.at(i_->modifiers.size() - 2)), from(type());
  const std::vector<operand>& o = i_->operands;
  const value_class k = class_of_bits(type_bits(to));
  const bool floats = to[0] == 'f';
  const value_class kind = !floats ? k : type_bits(to) == 32 ? value_class::f32 : value_class::f64;
  const op_entry& r = find("setp.ge." + from);
  const std::uint32_t holds = new_vreg(value_class::predicate);
  compare("ge", from, holds, source(o.at(3), r.a), constant(r.a, 0));
  const std::uint32_t a = source(o.at(1), kind), b = source(o.at(2), kind);
  emit("selp.b" + std::to_string(type_bits(to)), destination(o.at(0), k), a, b, holds);
}

}  // namespace stepwise::emulator
