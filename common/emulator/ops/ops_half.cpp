// Arithmetic of f16 and bf16, alone and in pairs, and their conversions from and to f32.
//
// idea    A body for one number gives two ops: "add.f16" on 16 bits, "add.f16x2" on the halves of
//         32. Modifiers of a single operand or result (.ftz, .sat, .relu) are separate ops in angle
//         brackets, which lowering inserts before or after the main op.
// source  PTX ISA 9.0, "Half Precision Floating Point Instructions".
//         Tested by tests/opcodes/half_*.ptx and tests/narrow_test.cpp.
#include "common/emulator/ops/narrow.hpp"
#include "common/emulator/ops/special_functions.hpp"

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

// Applies the operation to both halves.
template <class Body>
struct on_pair {
  template <class... Words>
  u32 operator()(Words... w) const {
    return static_cast<u32>(static_cast<u16>(Body{}((w & 0xffff)...))) |
           static_cast<u32>(static_cast<u16>(Body{}((w >> 16)...))) << 16;
  }
};

template <class Body>
void unary(op_table& t, const op_name& name, Body) {
  add_op<u16, u16>(t, name, [](u32 a) -> u16 { return static_cast<u16>(Body{}(a)); });
  add_op<u32, u32>(t, name + "x2", on_pair<Body>{});
}
template <class Body>
void binary(op_table& t, const op_name& name, Body) {
  add_op<u16, u16, u16>(t, name,
                        [](u32 a, u32 b) -> u16 { return static_cast<u16>(Body{}(a, b)); });
  add_op<u32, u32, u32>(t, name + "x2", on_pair<Body>{});
}
template <class Body>
void ternary(op_table& t, const op_name& name, Body) {
  add_op<u16, u16, u16, u16>(
      t, name, [](u32 a, u32 b, u32 c) -> u16 { return static_cast<u16>(Body{}(a, b, c)); });
  add_op<u32, u32, u32, u32>(t, name + "x2", on_pair<Body>{});
}

template <class F>
constexpr u32 smallest_normal = F::infinite & ~(F::infinite << 1);

template <class F>
void modifiers(op_table& t) {
  const op_name type = op_name(">.") + F::name;
  unary(t, "<ftz" + type, [](u32 a) { return (a & F::infinite) == 0 ? a & 0x8000u : a; });
  unary(t, "<sat" + type, [](u32 a) -> u32 {
    if ((a & 0x7fffu) > F::infinite || (a & 0x8000u)) return 0;  // NaN or negative
    return a > F::one ? F::one : a;
  });
  unary(t, "<relu" + type, [](u32 a) -> u32 {
    if ((a & 0x7fffu) > F::infinite) return 0x7fff;
    return a & 0x8000u ? 0 : a;
  });
}

template <class F>
void arithmetic(op_table& t) {
  const op_name type = op_name(".") + F::name;
  for (const op_name rounding : {"", ".rn"}) {
    binary(t, "add" + rounding + type,
           [](u32 a, u32 b) { return F::rounded(F::value(a) + F::value(b)); });
    binary(t, "sub" + rounding + type,
           [](u32 a, u32 b) { return F::rounded(F::value(a) - F::value(b)); });
    binary(t, "mul" + rounding + type, [](u32 a, u32 b) { return F::product(a, b); });
  }
  ternary(t, "fma.rn" + type, [](u32 a, u32 b, u32 c) { return F::fused(a, b, c); });
  unary(t, "neg" + type, [](u32 a) { return a ^ 0x8000u; });
  unary(t, "abs" + type, [](u32 a) { return a & 0x7fffu; });
}

// ex2 and tanh, computed as for floats; the result is truncated.
template <class F, class Truncated, class Operation, class Word>
const op* approximate_op(context& x, const op* i) {
  const Word* a = x.vreg<Word>(i->a);
  Word words[lanes] = {};
  for (unsigned shift = 0; shift < 8 * sizeof(Word); shift += 16) {
    f32 operands[lanes], results[lanes];
    for (int l = 0; l < lanes; ++l) operands[l] = F::value((u32{a[l]} >> shift) & 0xffff);
    approximated<Operation, false>(operands, results);
    for (int l = 0; l < lanes; ++l) {
      const u32 half = Truncated::of(results[l]) << shift;
      words[l] = static_cast<Word>(words[l] | half);
    }
  }
  keep_active(x.active, words, x.vreg<Word>(i->d));
  return i + 1;
}
template <class F, class Truncated>
void approximate_ops(op_table& t) {
  const auto add = [&]<class Operation>(const op_name& name, Operation) {
    constexpr value_class k = value_class::b16, k2 = value_class::b32, none = value_class::none;
    add_op(t, name + F::name, &approximate_op<F, Truncated, Operation, u16>, k, k, none, none);
    add_op(t, name + F::name + "x2", &approximate_op<F, Truncated, Operation, u32>, k2, k2, none,
           none);
  };
  add("ex2.approx.", unit::exp2{});
  add("tanh.approx.", unit::hyperbolic_tangent{});
}

// The lesser or greater of two numbers; -0 is below +0. A NaN loses to a number unless NanWins.
template <class F, bool Least, bool NanWins, bool XorSign>
u32 choose(u32 a, u32 b) {
  const u32 sign = (a ^ b) & 0x8000u;
  if (XorSign) {
    a &= 0x7fffu;
    b &= 0x7fffu;
  }
  const bool a_nan = (a & 0x7fffu) > F::infinite, b_nan = (b & 0x7fffu) > F::infinite;
  if ((a_nan && b_nan) || (NanWins && (a_nan || b_nan))) return 0x7fff;
  // Orders the bits as signed integers, with negative numbers reversed.
  const auto key = [](u32 v) {
    return v & 0x8000u ? -static_cast<s32>(v & 0x7fffu) - 1 : static_cast<s32>(v);
  };
  const bool first = b_nan || (!a_nan && (Least ? key(a) <= key(b) : key(a) >= key(b)));
  const u32 chosen = first ? a : b;
  return XorSign ? (chosen & 0x7fffu) | sign : chosen;
}

template <class F>
void extremes(op_table& t) {
  const op_name type = op_name(".") + F::name;
  binary(t, "min" + type, [](u32 a, u32 b) { return choose<F, true, false, false>(a, b); });
  binary(t, "max" + type, [](u32 a, u32 b) { return choose<F, false, false, false>(a, b); });
  binary(t, "min.NaN" + type, [](u32 a, u32 b) { return choose<F, true, true, false>(a, b); });
  binary(t, "max.NaN" + type, [](u32 a, u32 b) { return choose<F, false, true, false>(a, b); });
  binary(t, "min.xorsign.abs" + type,
         [](u32 a, u32 b) { return choose<F, true, false, true>(a, b); });
  binary(t, "max.xorsign.abs" + type,
         [](u32 a, u32 b) { return choose<F, false, false, true>(a, b); });
  binary(t, "min.NaN.xorsign.abs" + type,
         [](u32 a, u32 b) { return choose<F, true, true, true>(a, b); });
  binary(t, "max.NaN.xorsign.abs" + type,
         [](u32 a, u32 b) { return choose<F, false, true, true>(a, b); });
}

template <class Body>
const op* compare(context& x, const op* i) {
  const u16* a = x.vreg<u16>(i->a);
  const u16* b = x.vreg<u16>(i->b);
  u32 value = 0;
  for (int l = 0; l < lanes; ++l) value |= static_cast<u32>(Body{}(a[l], b[l])) << l;
  u32& p = x.predicate(i->d);
  p = (p & ~x.active) | (value & x.active);
  return i + 1;
}

template <class F, class Relation>
void comparison(op_table& t, const op_name& relation, Relation) {
  const op_name name = relation + "." + F::name;
  constexpr auto holds = [](u32 a, u32 b) { return Relation{}(F::value(a), F::value(b)); };
  add_op(t, "setp." + name, &compare<decltype(holds)>, value_class::predicate, value_class::b16,
         value_class::b16, value_class::none);
}

template <class F>
void comparisons(op_table& t) {
  comparison<F>(t, "eq", [](f32 a, f32 b) { return a == b; });
  comparison<F>(t, "ne", [](f32 a, f32 b) { return a < b || a > b; });
  comparison<F>(t, "lt", [](f32 a, f32 b) { return a < b; });
  comparison<F>(t, "le", [](f32 a, f32 b) { return a <= b; });
  comparison<F>(t, "gt", [](f32 a, f32 b) { return a > b; });
  comparison<F>(t, "ge", [](f32 a, f32 b) { return a >= b; });
  comparison<F>(t, "equ", [](f32 a, f32 b) { return !(a < b || a > b); });
  comparison<F>(t, "neu", [](f32 a, f32 b) { return !(a == b); });
  comparison<F>(t, "ltu", [](f32 a, f32 b) { return !(a >= b); });
  comparison<F>(t, "leu", [](f32 a, f32 b) { return !(a > b); });
  comparison<F>(t, "gtu", [](f32 a, f32 b) { return !(a <= b); });
  comparison<F>(t, "geu", [](f32 a, f32 b) { return !(a < b); });
  comparison<F>(t, "num", [](f32 a, f32 b) { return a == a && b == b; });
  comparison<F>(t, "nan", [](f32 a, f32 b) { return !(a == a && b == b); });
}

template <class F>
void common_conversions(op_table& t) {
  const op_name type = F::name;
  add_op<f32, u16>(t, "cvt.f32." + type, [](u32 a) {
    const f32 v = F::value(a);
    return v == v ? v : std::bit_cast<f32>(0x7fffffffu);
  });
  add_op<u16, f32>(t, "cvt.rn." + type + ".f32", [](f32 a) { return F::rounded(a); });
  // The first operand becomes the upper half.
  add_op<u32, f32, f32>(t, "cvt.rn." + type + "x2.f32", [](f32 a, f32 b) {
    return static_cast<u32>(F::rounded(a)) << 16 | F::rounded(b);
  });
}

// Steps of conversions that round to nearest. ops_narrow.cpp has the other rounding modes.
template <class F>
void conversion_steps(op_table& t, const char* type) {
  constexpr u32 all = 2 * F::sign - 1;
  add_op<f64, u16>(t, op_name("widen.") + type, [](u32 a) { return double_of<F>(a & all); });
  add_op<u16, f64>(t, op_name("narrow.rn.") + type,
                   [](f64 a) { return static_cast<u16>(nearest_of<F>(a, false)); });
  add_op<u16, f64>(t, op_name("narrow.rn.satfinite.") + type,
                   [](f64 a) { return static_cast<u16>(nearest_of<F>(a, true)); });
}

}  // namespace

void half_ops(op_table& t) {
  conversion_steps<f16>(t, "f16");
  conversion_steps<bf16>(t, "bf16");
  conversion_steps<e4m3>(t, "e4m3");
  conversion_steps<e5m2>(t, "e5m2");
  add_op<f64, f32>(t, "widen.f32", [](f32 a) { return static_cast<f64>(a); });
  for_types<f16_arithmetic, bf16_arithmetic>([&]<class F>() {
    modifiers<F>(t);
    arithmetic<F>(t);
    extremes<F>(t);
    comparisons<F>(t);
    common_conversions<F>(t);
  });
  approximate_ops<f16_arithmetic, truncated_f16>(t);
  approximate_ops<bf16_arithmetic, truncated_bf16>(t);
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
