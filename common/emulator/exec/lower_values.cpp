// Lowering: arithmetic, moves, comparisons and conversions.
#include <algorithm>
#include <map>

#include "common/emulator/exec/lowering.hpp"

namespace stepwise::emulator {

void lowering::generic() {
  std::string key(i_->opcode);
  for (const std::string_view m : i_->modifiers) key += "." + std::string(m);
  // Types that name bits only, where the row is one for all types of a width.
  static constexpr std::string_view by_width[] = {"and", "or", "xor", "not", "cnot", "selp", "shl"};
  if (std::ranges::find(by_width, i_->opcode) != std::end(by_width) && type() != "pred") {
    key = std::string(i_->opcode) + ".b" + std::string(type().substr(1));
  }
  if (i_->opcode == "lop3" && has("b32") && i_->operands.size() == 5) key = "lop3.b32";
  const row& r = find(key);
  const std::vector<operand>& o = i_->operands;
  const value_class kinds[] = {r.a, r.b, r.c};
  std::uint32_t rows[3] = {0, 0, 0};
  std::size_t next = r.d == value_class::none ? 0 : 1;
  for (int k = 0; k < 3 && kinds[k] != value_class::none && next < o.size(); ++k)
    rows[k] = source(o[next++], kinds[k]);
  std::uint32_t fourth = 0;
  std::int64_t table = 0;
  if (i_->opcode == "bfi") fourth = source(o.at(4), value_class::b32);
  if (i_->opcode == "lop3") table = static_cast<std::int64_t>(o.at(4).bits);
  const std::uint32_t d = r.d == value_class::none ? 0 : destination(o.at(0), r.d);
  op& e = emit(r, d, rows[0], rows[1], rows[2]);
  e.slot = fourth;
  e.immediate = table;
}

void lowering::move() {
  const operand& to = i_->operands.at(0);
  const operand& from = i_->operands.at(1);
  if (type() == "pred") {
    const std::uint32_t a = source(from, value_class::predicate);
    emit("mov.pred", destination(to, value_class::predicate), a, a);
    return;
  }
  const unsigned bits = type_bits(type());
  if (bits != 16 && bits != 32 && bits != 64) throw unsupported{"the instruction " + text()};
  const value_class k = class_of_bits(bits);
  const std::string name = "mov.b" + std::to_string(bits);
  if (from.kind == operand_kind::name && from.name.starts_with("%clock")) {
    emit(from.name == "%clock64" ? "<clock64>" : "<clock>", destination(to, k));
    return;
  }
  if (from.kind == operand_kind::name && from.name == "%globaltimer") {
    emit("<globaltimer>", destination(to, k));
    return;
  }
  if (from.kind == operand_kind::vector) {  // pack, lowest part first
    const unsigned part = bits / static_cast<unsigned>(from.elements.size());
    if (part < 16) throw unsupported{"the instruction " + text()};
    const std::string u = "u" + std::to_string(part), whole = "u" + std::to_string(bits);
    std::uint32_t sum = constant(k, 0);
    for (unsigned n = 0; n < from.elements.size(); ++n) {
      const std::uint32_t wide = new_row(k), shifted = new_row(k), next = new_row(k);
      emit("cvt." + whole + "." + u, wide, source(from.elements[n], class_of_bits(part)));
      emit("shl.b" + std::to_string(bits), shifted, wide, constant(value_class::b32, n * part));
      emit("or.b" + std::to_string(bits), next, sum, shifted);
      sum = next;
    }
    emit(name, destination(to, k), sum);
    return;
  }
  if (to.kind == operand_kind::vector) {  // unpack
    const unsigned part = bits / static_cast<unsigned>(to.elements.size());
    if (part < 16) throw unsupported{"the instruction " + text()};
    const std::uint32_t whole = new_row(k);
    emit(name, whole, source(from, k));
    for (unsigned n = 0; n < to.elements.size(); ++n) {
      const operand& e = to.elements[n];
      if (e.kind == operand_kind::sink || e.name == "_") continue;
      const std::uint32_t shifted = new_row(k);
      emit("shr.b" + std::to_string(bits), shifted, whole, constant(value_class::b32, n * part));
      emit("cvt.u" + std::to_string(part) + ".u" + std::to_string(bits),
           destination(e, class_of_bits(part)), shifted);
    }
    return;
  }
  emit(name, destination(to, k), source(from, k));
}

// setp.cmp[.bool][.ftz].type p[|q], a, b[, c]
void lowering::set_predicate() {
  std::string compare(i_->modifiers.at(0));
  static const std::map<std::string, std::string> unsigned_names = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  if (const auto u = unsigned_names.find(compare); u != unsigned_names.end()) compare = u->second;
  std::string kind(type());
  if (kind[0] == 'b') kind[0] = 'u';
  const row& r = find("setp." + compare + (has("ftz") ? ".ftz." : ".") + kind);
  const std::vector<operand>& o = i_->operands;
  const std::uint32_t a = source(o.at(1), r.a), b = source(o.at(2), r.b);
  const bool pair = o[0].kind == operand_kind::pair;
  const operand& first = pair ? o[0].elements.at(0) : o[0];
  std::string combine;
  for (const char* c : {"and", "or", "xor"})
    if (has(c)) combine = std::string(c) + ".pred";
  if (!pair && combine.empty()) {
    emit(r, destination(first, value_class::predicate), a, b);
    return;
  }
  const std::uint32_t holds = new_row(value_class::predicate),
                      fails = new_row(value_class::predicate);
  emit(r, holds, a, b);
  emit("not.pred", fails, holds, holds);
  const std::uint32_t other = combine.empty() ? 0 : source(o.at(3), value_class::predicate);
  const auto give = [&](const operand& to, std::uint32_t value) {
    const std::uint32_t d = destination(to, value_class::predicate);
    if (combine.empty())
      emit("mov.pred", d, value, value);
    else
      emit(combine, d, value, other);
  };
  // The first result may be `other` itself, so it is written last.
  if (pair) give(o[0].elements.at(1), fails);
  give(first, holds);
}

// set.cmp[.ftz].dtype.atype d, a, b: all ones, or 1.0f, where the comparison holds.
void lowering::set_value() {
  const std::string compare(i_->modifiers.at(0));
  const std::string to(i_->modifiers.at(i_->modifiers.size() - 2)), from(type());
  const row& r = find("setp." + compare + (has("ftz") ? ".ftz." : ".") + from);
  const std::uint32_t holds = new_row(value_class::predicate);
  emit(r, holds, source(i_->operands.at(1), r.a), source(i_->operands.at(2), r.b));
  const std::uint64_t yes = to == "f32" ? 0x3f800000u : 0xffffffffu;
  emit("selp.b32", destination(i_->operands.at(0), value_class::b32),
       constant(value_class::b32, yes), constant(value_class::b32, 0), holds);
}

void lowering::convert() {
  const std::string to(i_->modifiers.at(i_->modifiers.size() - 2)), from(type());
  const operand& d = i_->operands.at(0);
  const operand& a = i_->operands.at(1);
  const auto is_float = [](const std::string& t) { return t[0] == 'f'; };
  const unsigned to_bits = register_bits(d);
  unsigned from_bits = register_bits(a);
  if (from_bits == 0) from_bits = std::max(16u, type_bits(from));
  if (!is_float(to) && !is_float(from)) {
    const bool natural = !has("sat") && to_bits == type_bits(to) && from_bits == type_bits(from);
    if (natural) {
      emit("cvt." + to + "." + from, destination(d, class_of_bits(to_bits)),
           source(a, class_of_bits(from_bits)));
      return;
    }
    const std::uint32_t wide = new_row(value_class::b64);
    emit("extend." + from + ".b" + std::to_string(from_bits), wide,
         source(a, class_of_bits(from_bits)));
    const std::string store =
        has("sat") ? "store.sat." + to + (from[0] == 's' ? ".s64" : ".u64") : "store." + to;
    emit(store + ".b" + std::to_string(to_bits), destination(d, class_of_bits(to_bits)), wide);
    return;
  }
  std::string key = "cvt";
  for (const std::string_view m : i_->modifiers) key += "." + std::string(m);
  // A float's saturation to an integer type is what the conversion does anyway.
  if (!is_float(to) && has("sat")) key.erase(key.find(".sat"), 4);
  if (is_float(from)) {
    const bool narrow = to == "u8" || to == "s8";
    const row& r = find(key);
    const std::uint32_t value = source(a, r.a);
    if (narrow || bits_of(r.d) != to_bits) {
      const std::uint32_t result = new_row(r.d), wide = new_row(value_class::b64);
      emit(r, result, value);
      emit("extend." + to + ".b" + std::to_string(bits_of(r.d)), wide, result);
      emit("store." + to + ".b" + std::to_string(to_bits), destination(d, class_of_bits(to_bits)),
           wide);
    } else {
      emit(r, destination(d, r.d), value);
    }
    return;
  }
  // Integer to float: narrow integers and odd registers go through 64 bits.
  if (from_bits == type_bits(from) && type_bits(from) >= 32) {
    const row& r = find(key);
    emit(r, destination(d, r.d), source(a, r.a));
    return;
  }
  key.replace(key.rfind('.') + 1, std::string::npos, from[0] == 's' ? "s64" : "u64");
  const row& r = find(key);
  const std::uint32_t wide = new_row(value_class::b64);
  emit("extend." + from + ".b" + std::to_string(from_bits), wide,
       source(a, class_of_bits(from_bits)));
  emit(r, destination(d, r.d), wide);
}

// cvta: between a state space's addresses and generic ones. Those of global and constant memory
// are the same.
void lowering::convert_address() {
  const operand& d = i_->operands.at(0);
  const operand& a = i_->operands.at(1);
  if (type() != "u64") throw unsupported{"the instruction " + text()};
  const std::uint64_t window = has("shared") || has("shared::cta") ? shared_window
                               : has("local")                      ? local_window
                               : has("param")                      ? parameter_window
                                                                   : 0;
  const std::uint32_t from = source(a, value_class::b64), to = destination(d, value_class::b64);
  if (window == 0)
    emit("mov.b64", to, from);
  else
    emit(has("to") ? "sub.u64" : "add.u64", to, from, constant(value_class::b64, window));
}

}  // namespace stepwise::emulator
