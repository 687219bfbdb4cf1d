// Floating-point operations.
//
// idea    Every result follows IEEE 754 with round-to-nearest. A single-precision NaN becomes the
//         canonical NaN 0x7fffffff, as on an H200. Approximate instructions return the bits of a
//         GPU's special function unit (special_functions.hpp).
// source  PTX ISA 9.0, "Floating Point Instructions". Tested by tests/opcodes/.
#if defined(__wasm__)
#include <wasm_simd128.h>
#endif

#include <bit>
#include <cmath>

#include "common/emulator/ops/narrow.hpp"
#include "common/emulator/ops/ops.hpp"
#include "common/emulator/ops/special_functions.hpp"

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

[[gnu::always_inline]] inline f32 canonical(f32 v) {
  return v == v ? v : std::bit_cast<f32>(0x7fffffffu);
}
// In double precision a NaN operand is quieted and passed on, and an invalid operation gives
// 0xfff8000000000000, as on x86.
[[gnu::always_inline]] inline f64 canonical(f64 v) { return v; }

// .ftz: a subnormal becomes a zero of its sign.
[[gnu::always_inline]] inline f32 flush(f32 v) {
  const u32 bits = std::bit_cast<u32>(v);
  return (bits & 0x7f800000u) == 0 ? std::bit_cast<f32>(bits & 0x80000000u) : v;
}
[[gnu::always_inline]] inline f64 flush(f64 v) { return v; }

template <bool Ftz, class T>
[[gnu::always_inline]] inline T in(T v) {
  if constexpr (Ftz) return flush(v);
  return v;
}
template <bool Ftz, class T>
[[gnu::always_inline]] inline T out(T v) {
  return canonical(in<Ftz>(v));
}
// .sat: clamped to [0, 1]; NaN becomes 0.
[[gnu::always_inline]] inline f32 saturate(f32 v) {
  return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f;
}

// min and max return the number if one operand is NaN, and order -0 below +0. They have no
// branches, so that they become vector code.
template <class T, class Combine>
[[gnu::always_inline]] inline T chosen(T a, T b, bool first, Combine combine) {
  using bits = std::conditional_t<sizeof(T) == 4, u32, u64>;
  const T equal = std::bit_cast<T>(combine(std::bit_cast<bits>(a), std::bit_cast<bits>(b)));
  T r = first ? a : b;
  r = a == b ? equal : r;
  r = a == a && b != b ? a : r;
  return canonical(r);
}
template <class T>
[[gnu::always_inline]] inline T minimum(T a, T b) {
  return chosen(a, b, a < b, [](auto p, auto q) { return p | q; });
}
template <class T>
[[gnu::always_inline]] inline T maximum(T a, T b) {
  return chosen(a, b, b < a, [](auto p, auto q) { return p & q; });
}

// a * b + c, rounded once. WebAssembly has no such instruction, and std::fma would be a call. The
// product of floats is exact in double precision, and the sum is rounded to odd first.
[[gnu::always_inline]] inline f32 fused(f32 a, f32 b, f32 c) {
#if defined(__wasm__)
  return static_cast<f32>(odd_sum(static_cast<f64>(a) * b, static_cast<f64>(c)));
#else
  return std::fma(a, b, c);
#endif
}
[[gnu::always_inline]] inline f64 fused(f64 a, f64 b, f64 c) { return std::fma(a, b, c); }

#if defined(__wasm__)
// fused() of a warp. A sum in double precision can be rounded again, unless it is half-way between
// two floats or so small that nearby floats have fewer bits. V8 rebuilds a vector constant at each
// use, so these constants are loaded from memory once.
const op* fused_op(context& x, const op* i) {
  static u64 masks[] = {(1u << 29) - 1, 1u << 28, ~u64{0} >> 1};
  u64* from = masks;
  asm volatile("" : "+r"(from));
  const v128_t rest = wasm_v128_load64_splat(from), half = wasm_v128_load64_splat(from + 1);
  const v128_t magnitude = wasm_v128_load64_splat(from + 2), zero = wasm_i64x2_splat(0);
  const f32* a = x.vreg<f32>(i->a);
  const f32* b = x.vreg<f32>(i->b);
  const f32* c = x.vreg<f32>(i->c);
  f32 sums[lanes];
  v128_t unsure = zero, least = wasm_f64x2_splat(1);
  for (int l = 0; l < lanes; l += 2) {
    const auto wide = [l](const f32* values) {
      return wasm_f64x2_promote_low_f32x4(wasm_v128_load64_zero(values + l));
    };
    const v128_t sum = wasm_f64x2_add(wasm_f64x2_mul(wide(a), wide(b)), wide(c));
    unsure = wasm_v128_or(unsure, wasm_i64x2_eq(wasm_v128_and(sum, rest), half));
    const v128_t size = wasm_v128_and(sum, magnitude);
    least = wasm_f64x2_pmin(least, wasm_v128_or(size, wasm_f64x2_eq(size, zero)));
    wasm_v128_store64_lane(sums + l, wasm_f32x4_demote_f64x2_zero(sum), 0);
  }
  const v128_t small = wasm_f64x2_lt(least, wasm_f64x2_splat(0x1p-125));
  if (wasm_v128_any_true(wasm_v128_or(unsure, small)))
    for (int l = 0; l < lanes; ++l) sums[l] = fused(a[l], b[l], c[l]);
  f32* d = x.vreg<f32>(i->d);
  if (x.active == all_lanes) {
    for (int l = 0; l < lanes; ++l) d[l] = canonical(sums[l]);
  } else {
    for (int l = 0; l < lanes; ++l) d[l] = lane_in(x.active, l) ? canonical(sums[l]) : d[l];
  }
  return i + 1;
}
#endif

template <class T, bool Ftz>
void arithmetic(op_table& t, const op_name& type) {
  auto sum = [](T a, T b) { return out<Ftz>(in<Ftz>(a) + in<Ftz>(b)); };
  auto difference = [](T a, T b) { return out<Ftz>(in<Ftz>(a) - in<Ftz>(b)); };
  auto product = [](T a, T b) { return out<Ftz>(in<Ftz>(a) * in<Ftz>(b)); };
  auto product_sum = [](T a, T b, T c) {
    return out<Ftz>(fused(in<Ftz>(a), in<Ftz>(b), in<Ftz>(c)));
  };
  auto quotient = [](T a, T b) { return out<Ftz>(in<Ftz>(a) / in<Ftz>(b)); };
  auto root = [](T a) { return out<Ftz>(std::sqrt(in<Ftz>(a))); };
  auto inverse = [](T a) { return out<Ftz>(T{1} / in<Ftz>(a)); };
  // Without a rounding modifier add, sub and mul round to nearest as with .rn.
  for (const char* rounding : {"", "rn."}) {
    add_op<T, T, T>(t, op_name("add.") + rounding + type, sum);
    add_op<T, T, T>(t, op_name("sub.") + rounding + type, difference);
    add_op<T, T, T>(t, op_name("mul.") + rounding + type, product);
  }
  for (const char* operation : {"fma.rn.", "mad.rn."}) {
#if defined(__wasm__)
    if constexpr (std::is_same_v<T, f32> && !Ftz) {
      constexpr value_class k = value_class::f32;
      add_op(t, operation + type, &fused_op, k, k, k, k);
      continue;
    }
#endif
    add_op<T, T, T, T>(t, operation + type, product_sum);
  }
  add_op<T, T, T>(t, "div.rn." + type, quotient);
  add_op<T, T>(t, "sqrt.rn." + type, root);
  add_op<T, T>(t, "rcp.rn." + type, inverse);
  add_op<T, T, T>(t, "min." + type, [](T a, T b) { return minimum(in<Ftz>(a), in<Ftz>(b)); });
  add_op<T, T, T>(t, "max." + type, [](T a, T b) { return maximum(in<Ftz>(a), in<Ftz>(b)); });
  // abs and neg work on the sign bit.
  add_op<T, T>(t, "abs." + type, [](T a) { return in<Ftz>(std::fabs(a)); });
  add_op<T, T>(t, "neg." + type, [](T a) { return in<Ftz>(-a); });
}

template <bool Ftz>
void saturating(op_table& t) {
  const op_name type = Ftz ? "ftz.sat.f32" : "sat.f32";
  for (const char* rounding : {"", "rn."}) {
    add_op<f32, f32, f32>(t, op_name("add.") + rounding + type,
                          [](f32 a, f32 b) { return saturate(out<Ftz>(in<Ftz>(a) + in<Ftz>(b))); });
    add_op<f32, f32, f32>(t, op_name("sub.") + rounding + type,
                          [](f32 a, f32 b) { return saturate(out<Ftz>(in<Ftz>(a) - in<Ftz>(b))); });
    add_op<f32, f32, f32>(t, op_name("mul.") + rounding + type,
                          [](f32 a, f32 b) { return saturate(out<Ftz>(in<Ftz>(a) * in<Ftz>(b))); });
  }
  add_op<f32, f32, f32, f32>(t, "fma.rn." + type, [](f32 a, f32 b, f32 c) {
    return saturate(out<Ftz>(fused(in<Ftz>(a), in<Ftz>(b), in<Ftz>(c))));
  });
}

template <class Operation, bool Ftz>
const op* approximate_op(context& x, const op* i) {
  f32 results[lanes];
  approximated<Operation, Ftz>(x.vreg<f32>(i->a), results);
  keep_active(x.active, results, x.vreg<f32>(i->d));
  return i + 1;
}
template <bool Ftz, bool Full>
const op* quotient_op(context& x, const op* i) {
  f32 results[lanes];
  quotient<Ftz, Full>::compute(x.vreg<f32>(i->a), x.vreg<f32>(i->b), results);
  keep_active(x.active, results, x.vreg<f32>(i->d));
  return i + 1;
}
template <bool Ftz, bool Full>
const op* reciprocal_op(context& x, const op* i) {
  u32 results[lanes];
  quotient<Ftz, Full>::reciprocals(x.vreg<f32>(i->a), results);
  keep_active(x.active, results, x.vreg<u32>(i->d));
  return i + 1;
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read only the upper word of the operand, and set the
// upper word of the result.
template <class Operation>
const op* upper_word_op(context& x, const op* i) {
  const u64* a = x.vreg<u64>(i->a);
  u32 uppers[lanes], results[lanes];
  u64 words[lanes];
  for (int l = 0; l < lanes; ++l) uppers[l] = static_cast<u32>(a[l] >> 32);
  unit::compute<Operation>(uppers, results);
  for (int l = 0; l < lanes; ++l) words[l] = u64{results[l]} << 32;
  keep_active(x.active, words, x.vreg<u64>(i->d));
  return i + 1;
}

template <bool Ftz>
void approximate_ops(op_table& t) {
  const op_name type = Ftz ? "ftz.f32" : "f32";
  constexpr value_class k = value_class::f32, none = value_class::none;
  const auto quotients = [&]<bool Full>(std::bool_constant<Full>) {
    using form_of = quotient<Ftz, Full>;
    const op_name form = (Full ? "full." : "approx.") + type;
    add_op(t, "div." + form, &quotient_op<Ftz, Full>, k, k, k, none);
    // The factors of the quotient, for products that are fused into a sum.
    add_op<f32, f32, f32>(t, "<dividend>." + form,
                          [](f32 a, f32 b) { return form_of::dividend(a, b); });
    add_op(t, "<reciprocal>." + form, &reciprocal_op<Ftz, Full>, k, k, none, none);
  };
  quotients(std::true_type{});
  quotients(std::false_type{});
  const auto add = [&]<class Operation>(const char* name, Operation) {
    add_op(t, name + type, &approximate_op<Operation, Ftz>, k, k, none, none);
  };
  add("rcp.approx.", unit::reciprocal{});
  add("sqrt.approx.", unit::root{});
  add("rsqrt.approx.", unit::reciprocal_root{});
  add("ex2.approx.", unit::exp2{});
  add("lg2.approx.", unit::log2{});
  add("sin.approx.", unit::sine{});
  add("cos.approx.", unit::cosine{});
  if (!Ftz) add("tanh.approx.", unit::hyperbolic_tangent{});
}

}  // namespace

void floating_ops(op_table& t) {
  arithmetic<f32, false>(t, "f32");
  arithmetic<f32, true>(t, "ftz.f32");
  arithmetic<f64, false>(t, "f64");
  saturating<false>(t);
  saturating<true>(t);
  approximate_ops<false>(t);
  approximate_ops<true>(t);
  constexpr value_class k = value_class::f64, none = value_class::none;
  add_op(t, "rcp.approx.ftz.f64", &upper_word_op<unit::upper_reciprocal>, k, k, none, none);
  add_op(t, "rsqrt.approx.ftz.f64", &upper_word_op<unit::upper_reciprocal_root>, k, k, none, none);
  add_op<f32, f32, f32>(t, "copysign.f32", [](f32 a, f32 b) { return std::copysign(b, a); });
  add_op<f64, f64, f64>(t, "copysign.f64", [](f64 a, f64 b) { return std::copysign(b, a); });
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
