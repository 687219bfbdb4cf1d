// Lowering: conversions to and from f16, bf16, tf32, e4m3 and e5m2.
//
// idea    The common conversions are single ops. All others widen to f64 ("widen.*"), which holds
//         every source exactly (64-bit integers: rounded to odd), and round once ("narrow.*").
#include <algorithm>

#include "common/emulator/lower/lowering.hpp"

namespace stepwise::emulator {

// Part number `index`, of `part` bits, of a register of `bits` bits. 8 bits take a 16-bit register.
std::uint32_t lowering::part_of(std::uint32_t whole, unsigned bits, unsigned part, unsigned index) {
  const std::uint32_t shifted = new_vreg(class_of_bits(bits));
  emit("shr.b" + std::to_string(bits), shifted, whole, constant(value_class::b32, part * index));
  if (bits == 16) return shifted;
  const std::uint32_t result = new_vreg(value_class::b16);
  emit("cvt.u16.u" + std::to_string(bits), result, shifted);
  return result;
}

// The value of a register of type `from`, as f64.
std::uint32_t lowering::widened(std::uint32_t vreg, const std::string& from) {
  if (from == "f32" && has("ftz")) {
    const std::uint32_t flushed = new_vreg(value_class::f32);
    emit("<ftz>.f32", flushed, vreg);
    vreg = flushed;
  }
  if (from == "f64") return vreg;
  const std::uint32_t wide = new_vreg(value_class::f64);
  emit("widen." + from, wide, vreg);
  return wide;
}

// An f64 as the type `to`, rounded as the instruction asks.
std::uint32_t lowering::rounded(std::uint32_t wide, const std::string& to) {
  const auto through = [&](const std::string& name) {
    const std::uint32_t next = new_vreg(value_class::f64);
    emit(name, next, wide);
    wide = next;
  };
  std::string mode = "rn";
  for (const char* m : {"rz", "rm", "rp", "rna"})
    if (has(m)) mode = m;
  for (const char* m : {"rni", "rzi", "rmi", "rpi"})
    if (has(m)) through("cvt." + std::string(m) + ".f64.f64");
  // The bounds are exact in every format, so clamping before rounding equals clamping after it.
  if (has("sat")) through("<sat>.f64");
  if (has("relu")) through("<relu>.f64");
  const op_entry& r = find("narrow." + mode + (has("satfinite") ? ".satfinite." : ".") + to);
  const std::uint32_t result = new_vreg(r.d);
  emit(r, result, wide);
  return result;
}

// Converts two numbers: cvt.to.f32 d, a, b, with a as the upper part, or another pair.
void lowering::convert_pair(const std::string& to, const std::string& from) {
  const std::vector<operand>& o = i_->operands;
  const auto element = [](const std::string& t) { return t.substr(0, t.size() - 2); };
  const auto bits = [&](const std::string& t) { return element(t).ends_with("16") ? 16u : 8u; };
  if (!from.ends_with("x2") && from != "f32") throw unsupported{"the instruction " + text()};
  std::uint32_t parts[2];  // the lower first
  for (unsigned n = 0; n < 2; ++n) {
    const std::uint32_t part = from == "f32"
                                   ? source(o.at(2 - n), value_class::f32)
                                   : part_of(source(o.at(1), class_of_bits(2 * bits(from))),
                                             2 * bits(from), bits(from), n);
    parts[n] = rounded(widened(part, from == "f32" ? from : element(from)), element(to));
  }
  const unsigned whole = 2 * bits(to);
  const std::string width = ".b" + std::to_string(whole);
  if (whole == 32) {
    for (std::uint32_t& part : parts) {
      const std::uint32_t wide = new_vreg(value_class::b32);
      emit("cvt.u32.u16", wide, part);
      part = wide;
    }
  }
  const std::uint32_t upper = new_vreg(class_of_bits(whole));
  emit("shl" + width, upper, parts[1], constant(value_class::b32, bits(to)));
  emit("or" + width, destination(o.at(0), class_of_bits(whole)), upper, parts[0]);
}

void lowering::convert_narrow(const std::string& to, const std::string& from) {
  const std::vector<operand>& o = i_->operands;
  std::string key = "cvt";
  for (const std::string_view m : i_->modifiers) key += "." + std::string(m);
  if (const op_entry* r = look_up(key)) {
    const std::uint32_t a = source(o.at(1), r->a);
    const std::uint32_t b = r->b == value_class::none ? 0 : source(o.at(2), r->b);
    emit(*r, destination(o.at(0), r->d), a, b);
    return;
  }
  if (has("rs") || has("scaled")) throw unsupported{"the instruction " + text()};
  if (to.ends_with("x2")) return convert_pair(to, from);
  std::uint32_t wide;
  if (from[0] == 'u' || from[0] == 's') {
    unsigned bits = register_bits(o.at(1));
    if (bits == 0) bits = std::max(16u, type_bits(from));
    const std::uint32_t extended = new_vreg(value_class::b64);
    emit("extend." + from + ".b" + std::to_string(bits), extended,
         source(o.at(1), class_of_bits(bits)));
    wide = widened(extended, from[0] == 'u' ? "u64" : "s64");
  } else {
    const value_class k = from == "f32"   ? value_class::f32
                          : from == "f64" ? value_class::f64
                                          : value_class::b16;
    const std::uint32_t a = source(o.at(1), k);
    if (to[0] == 'u' || to[0] == 's') {
      const std::uint32_t single = new_vreg(value_class::f32);
      emit("cvt.f32." + from, single, a);
      std::string mode;
      for (const char* m : {"rni", "rzi", "rmi", "rpi"})
        if (has(m)) mode = m;
      return convert_to_integer("cvt." + mode + "." + to + ".f32", single);
    }
    wide = widened(a, from);
  }
  if (to == "f32" || to == "f64") {
    const bool single = to == "f32";
    const std::uint32_t d = destination(o.at(0), single ? value_class::f32 : value_class::f64);
    std::uint32_t value = wide;
    if (has("sat")) {
      value = new_vreg(value_class::f64);
      emit("<sat>.f64", value, wide);
    }
    if (!single) return void(emit("mov.b64", d, value));
    const std::uint32_t exact = new_vreg(value_class::f32);
    emit("cvt.rn.f32.f64", exact, value);
    emit(has("ftz") ? "<ftz>.f32" : "cvt.f32.f32", d, exact);
    return;
  }
  const op_entry& r = find("narrow.rn." + to);
  emit("mov.b" + std::to_string(bits_of(r.d)), destination(o.at(0), r.d), rounded(wide, to));
}

}  // namespace stepwise::emulator
