// Lowering: arithmetic, moves and conversions.
#include <algorithm>

#include "common/emulator/lower/fusible.hpp"
#include "common/emulator/lower/lowering.hpp"

namespace stepwise::emulator {

void lowering::generic() {
  std::string key(i_->opcode);
  for (const std::string_view m : i_->modifiers) key += "." + std::string(m);
  // These have one op for all types of a width.
  static constexpr std::string_view by_width[] = {"and", "or", "xor", "not", "cnot", "selp", "shl"};
  if (std::ranges::find(by_width, i_->opcode) != std::end(by_width) && !type().empty() &&
      type() != "pred") {
    key = std::string(i_->opcode) + ".b" + std::string(type().substr(1));
  }
  if (i_->opcode == "lop3" && has("b32") && i_->operands.size() == 5) key = "lop3.b32";
  if (i_->opcode == "lop3" && i_->operands.size() == 6) return look_up_and_test();
  if (look_up(key) == nullptr) return i_->opcode[0] == 'v' ? video() : decorated(key);
  const op_entry& r = find(key);
  const std::vector<operand>& o = i_->operands;
  const value_class kinds[] = {r.a, r.b, r.c};
  std::uint32_t vregs[3] = {0, 0, 0};
  std::size_t next = r.d == value_class::none ? 0 : 1;
  for (int k = 0; k < 3 && kinds[k] != value_class::none; ++k) {
    if (k == 1 && i_->opcode == "not") break;  // not.pred uses a logic op with two operands
    vregs[k] = source(o.at(next++), kinds[k]);
  }
  std::uint32_t fourth = 0;
  std::int64_t table = 0;
  const bool carries = has("cc") || i_->opcode.ends_with('c');
  if (carries && (i_->opcode.starts_with("add") || i_->opcode.starts_with("sub") ||
                  i_->opcode.starts_with("mad"))) {
    if (carry_vreg_ == no_operand) carry_vreg_ = new_vreg(value_class::predicate);
    fourth = carry_vreg_;
  }
  if (i_->opcode == "bfi") fourth = source(o.at(4), value_class::b32);
  if (i_->opcode == "lop3") table = static_cast<std::int64_t>(o.at(4).bits);
  const std::uint32_t d = r.d == value_class::none ? 0 : destination(o.at(0), r.d);
  op& e = emit(r, d, vregs[0], vregs[1], vregs[2]);
  e.slot = fourth;
  e.immediate = table;
}

// Lowers .ftz, .sat and .relu to separate ops, before and after an operation whose op lacks them.
void lowering::decorated(const std::string& key) {
  std::string plain(i_->opcode);
  bool any = false;
  for (const std::string_view m : i_->modifiers) {
    const bool decoration = m == "ftz" || m == "sat" || m == "relu";
    if (!decoration) plain += "." + std::string(m);
    any |= decoration;
  }
  const op_entry& r = find(any ? plain : key);
  const std::string type_text(type());
  const value_class kinds[] = {r.a, r.b, r.c};
  std::uint32_t vregs[3] = {0, 0, 0};
  for (std::size_t k = 0; k < 3 && kinds[k] != value_class::none; ++k) {
    vregs[k] = source(i_->operands.at(k + 1), kinds[k]);
    if (!has("ftz")) continue;
    const std::uint32_t flushed = new_vreg(kinds[k]);
    emit("<ftz>." + type_text, flushed, vregs[k]);
    vregs[k] = flushed;
  }
  const std::uint32_t d = destination(i_->operands.at(0), r.d);
  std::vector<std::string> after;
  for (const char* m : {"ftz", "sat", "relu"})
    if (has(m)) after.push_back("<" + std::string(m) + ">." + type_text);
  std::uint32_t result = after.empty() ? d : new_vreg(r.d);
  emit(r, result, vregs[0], vregs[1], vregs[2]);
  for (std::size_t n = 0; n < after.size(); ++n) {
    const std::uint32_t next = n + 1 == after.size() ? d : new_vreg(r.d);
    emit(after[n], next, result);
    result = next;
  }
}

// A register without a name in the PTX.
operand lowering::named(std::uint32_t vreg, value_class k) {
  operand o;
  o.name = vreg_names_.emplace_back("<vreg " + std::to_string(vreg) + ">");
  registers_[vreg_names_.back()] = {k, vreg};
  return o;
}

operand lowering::negated(const operand& o, const std::string& type) {
  const op_entry& r = find("neg." + type);
  const std::uint32_t result = new_vreg(r.d);
  emit(r, result, source(o, r.a));
  return named(result, r.d);
}

// The dividend, perhaps scaled, and the reciprocal: the factors that ptxas makes of a division.
void lowering::keep_quotient(std::uint32_t product) {
  std::string form;
  for (const std::string_view m : in_manual_order(*i_).modifiers) form += "." + std::string(m);
  constexpr value_class k = value_class::f32;
  const std::uint32_t vregs[] = {source(i_->operands[1], k), source(i_->operands[2], k)};
  const std::uint32_t dividend = new_vreg(k), reciprocal = new_vreg(k);
  emit("<dividend>" + form, dividend, vregs[0], vregs[1]);
  emit("<reciprocal>" + form, reciprocal, vregs[1]);
  kept_factors_[{product, 0}] = named(dividend, k);
  kept_factors_[{product, 1}] = named(reciprocal, k);
}

// Copies those factors of a product whose registers are written before its last sum reads them.
void lowering::keep_factors(std::uint32_t product, const fusion::factors& written) {
  if (fusible::is_quotient(*i_)) return keep_quotient(product);
  const value_class k = find("fma.rn." + std::string(in_manual_order(*i_).modifiers.back())).a;
  for (const std::size_t which : {0, 1}) {
    if (!written.overwritten[which]) continue;
    const std::uint32_t vreg = new_vreg(k);
    emit("mov.b" + std::to_string(bits_of(k)), vreg, source(i_->operands[which + 1], k));
    kept_factors_[{product, which}] = named(vreg, k);
  }
}

operand lowering::factor(std::uint32_t product, std::size_t which) const {
  const auto kept = kept_factors_.find({product, which});
  return kept != kept_factors_.end() ? kept->second
                                     : body_.instructions[product].operands[which + 1];
}

// Lowers a sum and its product to one fma, with the sum's modifiers.
void lowering::fused(const fused_sum& sum) {
  ptx::instruction fma = in_manual_order(*written_);
  fma.opcode = "fma";
  fma.modifiers.insert(fma.modifiers.begin(), "rn");
  const std::string type(fma.modifiers.back());
  operand a = factor(sum.product, 0), c = written_->operands[sum.addend];
  if (sum.product_negated) a = negated(a, type);
  if (sum.addend_negated) c = negated(c, type);
  fma.operands = {written_->operands[0], a, factor(sum.product, 1), c};
  i_ = &fma;
  generic();
  i_ = written_;
}

// lop3.BoolOp.b32 d|p, a, b, c, table, q: p = (d != 0) BoolOp q.
void lowering::look_up_and_test() {
  const std::vector<operand>& o = i_->operands;
  if (o.at(0).kind != operand_kind::pair) throw unsupported{"the instruction " + text()};
  const std::uint32_t value = new_vreg(value_class::b32), holds = new_vreg(value_class::predicate);
  op& e = emit("lop3.b32", value, source(o.at(1), value_class::b32),
               source(o.at(2), value_class::b32), source(o.at(3), value_class::b32));
  e.immediate = static_cast<std::int64_t>(o.at(4).bits);
  emit("setp.ne.u32", holds, value, constant(value_class::b32, 0));
  give_predicate(o[0].elements.at(1), holds, source(o.at(5), value_class::predicate));
  emit("mov.b32", destination(o[0].elements.at(0), value_class::b32), value);
}

// Reads a register that changes while a warp runs. Returns false if `name` is no such register.
bool lowering::read_clock(const operand& to, std::string_view name, value_class k) {
  if (name == "%clock" || name == "%clock64" || name == "%globaltimer") {
    (name == "%globaltimer" ? out_.reads_timer : out_.reads_clock) = true;
    emit("<" + std::string(name.substr(1)) + ">", destination(to, k));
    return true;
  }
  const bool high = name == "%clock_hi" || name == "%globaltimer_hi";
  if (!high && name != "%globaltimer_lo") return false;
  (name == "%clock_hi" ? out_.reads_clock : out_.reads_timer) = true;
  const std::uint32_t whole = new_vreg(value_class::b64), word = new_vreg(value_class::b64);
  emit(name == "%clock_hi" ? "<clock64>" : "<globaltimer>", whole);
  emit("shr.b64", word, whole, constant(value_class::b32, high ? 32 : 0));
  emit("cvt.u32.u64", destination(to, k), word);
  return true;
}

// mov.b64 d, {a, b}: the lowest part first. 8-bit registers are kept in 16 bits.
void lowering::pack_vector(const operand& to, const operand& from, unsigned bits) {
  const unsigned part = bits / std::max(1u, static_cast<unsigned>(from.elements.size()));
  if (part < 8 || part == bits) throw unsupported{"the instruction " + text()};
  const value_class k = class_of_bits(bits);
  const std::string whole = std::to_string(bits), u = std::to_string(part);
  std::uint32_t sum = constant(k, 0);
  for (unsigned n = 0; n < from.elements.size(); ++n) {
    const std::uint32_t wide = new_vreg(k), shifted = new_vreg(k), next = new_vreg(k);
    const std::uint32_t value = source(from.elements[n], class_of_bits(std::max(16u, part)));
    if (part == 8) {
      const std::uint32_t byte = new_vreg(value_class::b64);
      emit("extend.u8.b16", byte, value);
      emit("cvt.u" + whole + ".u64", wide, byte);
    } else {
      emit("cvt.u" + whole + ".u" + u, wide, value);
    }
    emit("shl.b" + whole, shifted, wide, constant(value_class::b32, n * part));
    emit("or.b" + whole, next, sum, shifted);
    sum = next;
  }
  emit("mov.b" + whole, destination(to, k), sum);
}

// mov.b64 {d, e}, a
void lowering::unpack_vector(const operand& to, const operand& from, unsigned bits) {
  const unsigned part = bits / std::max(1u, static_cast<unsigned>(to.elements.size()));
  if (part < 8 || part == bits) throw unsupported{"the instruction " + text()};
  const value_class k = class_of_bits(bits);
  const std::uint32_t whole = new_vreg(k);
  emit("mov.b" + std::to_string(bits), whole, source(from, k));
  for (unsigned n = 0; n < to.elements.size(); ++n) {
    const operand& e = to.elements[n];
    if (e.kind == operand_kind::sink || e.name == "_") continue;
    const std::uint32_t shifted = new_vreg(k), byte = new_vreg(value_class::b16);
    emit("shr.b" + std::to_string(bits), shifted, whole, constant(value_class::b32, n * part));
    const std::string name =
        "cvt.u" + std::to_string(std::max(16u, part)) + ".u" + std::to_string(bits);
    if (part != 8) {
      emit(name, destination(e, class_of_bits(part)), shifted);
      continue;
    }
    emit(name, byte, shifted);
    emit("and.b16", destination(e, value_class::b16), byte, constant(value_class::b16, 0xff));
  }
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
  if (from.kind == operand_kind::name && read_clock(to, from.name, k)) return;
  if (from.kind == operand_kind::vector) return pack_vector(to, from, bits);
  if (to.kind == operand_kind::vector) return unpack_vector(to, from, bits);
  const std::uint32_t d = destination(to, k), a = source(from, k);
  if (!names_fixed_vreg(to, a)) emit(name, d, a);
}

// isspacep.space p, a: whether the generic address a lies in the space's window or, for constant
// memory, in one of its variables. All other addresses are global.
void lowering::address_space() {
  const std::string_view space = i_->modifiers.at(0);
  const std::uint32_t a = source(i_->operands.at(1), value_class::b64);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;  // first address, bytes
  const bool global = space == "global";
  if (global || space.starts_with("shared"))
    ranges.emplace_back(shared_window,
                        global || space == "shared::cluster" ? window_bytes : peer_bytes);
  if (global || space == "local") ranges.emplace_back(local_window, window_bytes);
  if (global || space.starts_with("param")) ranges.emplace_back(parameter_window, window_bytes);
  if (global || space == "const") {
    for (const ptx::variable& v : module_.variables) {
      if (v.space != state_space::constant) continue;
      if (const symbol_place* at = plan_.unit().find_variable(part_, v.name))
        ranges.emplace_back(at->address, v.bytes);
    }
  }
  const std::uint32_t none = new_vreg(value_class::predicate);
  std::uint32_t inside = none;
  emit("xor.pred", none, none, none);
  for (const auto& [first, bytes] : ranges) {
    const std::uint32_t offset = new_vreg(value_class::b64);
    const std::uint32_t here = new_vreg(value_class::predicate),
                        sum = new_vreg(value_class::predicate);
    emit("sub.u64", offset, a, constant(value_class::b64, first));
    emit("setp.lt.u64", here, offset, constant(value_class::b64, bytes));
    emit("or.pred", sum, inside, here);
    inside = sum;
  }
  emit(global ? "not.pred" : "mov.pred", destination(i_->operands.at(0), value_class::predicate),
       inside, inside);
}

void lowering::convert() {
  if (has("pack")) return generic();
  const std::string to(i_->modifiers.at(i_->modifiers.size() - 2)), from(type());
  const operand& d = i_->operands.at(0);
  const operand& a = i_->operands.at(1);
  const auto is_float = [](const std::string& t) { return t[0] == 'f'; };
  const auto is_narrow = [](const std::string& t) {
    return is_half(t) || t == "tf32" || t.starts_with("e4m3") || t.starts_with("e5m2");
  };
  if (is_narrow(to) || is_narrow(from)) return convert_narrow(to, from);
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
    const std::uint32_t wide = new_vreg(value_class::b64);
    emit("extend." + from + ".b" + std::to_string(from_bits), wide,
         source(a, class_of_bits(from_bits)));
    const std::string store =
        has("sat") ? "store.sat." + to + (from[0] == 's' ? ".s64" : ".u64") : "store." + to;
    emit(store + ".b" + std::to_string(to_bits), destination(d, class_of_bits(to_bits)), wide);
    return;
  }
  std::string key = "cvt";
  for (const std::string_view m : i_->modifiers) key += "." + std::string(m);
  // Conversions from float to integer always saturate.
  if (!is_float(to) && has("sat")) key.erase(key.find(".sat"), 4);
  if (!is_float(to)) return convert_to_integer(key, source(a, find(key).a));
  if (is_float(from)) {
    const op_entry& r = find(key);
    emit(r, destination(d, r.d), source(a, r.a));
    return;
  }
  // Integer to float: narrow integers and odd registers go through 64 bits.
  if (from_bits == type_bits(from) && type_bits(from) >= 32) {
    const op_entry& r = find(key);
    emit(r, destination(d, r.d), source(a, r.a));
    return;
  }
  key.replace(key.rfind('.') + 1, std::string::npos, from[0] == 's' ? "s64" : "u64");
  const op_entry& r = find(key);
  const std::uint32_t wide = new_vreg(value_class::b64);
  emit("extend." + from + ".b" + std::to_string(from_bits), wide,
       source(a, class_of_bits(from_bits)));
  emit(r, destination(d, r.d), wide);
}

// Converts `value`, a register of the type that the op `key` takes, to the instruction's result.
void lowering::convert_to_integer(const std::string& key, std::uint32_t value) {
  const op_entry& r = find(key);
  const operand& d = i_->operands.at(0);
  const std::string to(i_->modifiers.at(i_->modifiers.size() - 2));
  const unsigned to_bits = register_bits(d);
  if (to != "u8" && to != "s8" && bits_of(r.d) == to_bits) {
    emit(r, destination(d, r.d), value);
    return;
  }
  const std::uint32_t result = new_vreg(r.d), wide = new_vreg(value_class::b64);
  emit(r, result, value);
  emit("extend." + to + ".b" + std::to_string(bits_of(r.d)), wide, result);
  emit("store." + to + ".b" + std::to_string(to_bits), destination(d, class_of_bits(to_bits)),
       wide);
}

// cvta: converts between a state space's addresses and generic addresses, which are the same for
// global and constant memory.
void lowering::convert_address() {
  const operand& d = i_->operands.at(0);
  const operand& a = i_->operands.at(1);
  if (type() != "u64") throw unsupported{"the instruction " + text()};
  const bool shared = has("shared") || has("shared::cta") || has("shared::cluster");
  const std::uint64_t window = shared         ? shared_window
                               : has("local") ? local_window
                               : has("param") ? parameter_window
                                              : 0;
  const std::uint32_t from = source(a, value_class::b64), to = destination(d, value_class::b64);
  if (window == 0 && names_fixed_vreg(d, from)) return;
  if (window == 0)
    emit("mov.b64", to, from);
  else
    emit(has("to") ? "sub.u64" : "add.u64", to, from, constant(value_class::b64, window));
}

}  // namespace stepwise::emulator
