// Conversions between types.
//
// idea    An op exists for every pair of types at its natural width (16, 32 or 64 bits). Lowering
//         widens narrower or wider registers with "extend.*" ops first and narrows the result with
//         "store.*" ops, so that no op is needed for each combination of register widths.
// source  PTX ISA 9.0, "cvt". Tested by tests/opcodes/.
#include <bit>
#include <cmath>
#include <limits>

#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

enum class rounding { nearest, zero, down, up };

template <rounding R, class T>
T to_integral(T v) {
  if constexpr (R == rounding::nearest) return std::nearbyint(v);
  if constexpr (R == rounding::zero) return std::trunc(v);
  if constexpr (R == rounding::down) return std::floor(v);
  return std::ceil(v);
}

// Rounds an integer (64 bits fit a long double exactly) or a double to T in direction R.
template <rounding R, class T, class A>
T round_to(A exact) {
  const T nearest = static_cast<T>(exact);
  if constexpr (R == rounding::nearest) return nearest;
  const long double want = static_cast<long double>(exact);
  const long double got = static_cast<long double>(nearest);
  if (!(got < want) && !(got > want)) return nearest;  // exact, or NaN
  const T infinity = std::numeric_limits<T>::infinity();
  const bool down = R == rounding::down || (R == rounding::zero && want > 0);
  if (down) return got > want ? std::nextafter(nearest, -infinity) : nearest;
  return got < want ? std::nextafter(nearest, infinity) : nearest;
}

// Values out of range are clamped. NaN becomes 0 or, if either type has 64 bits, only the top bit,
// as on an H200.
template <rounding R, class D, class A>
D to_integer(A v) {
  if (!(v == v)) {
    const bool wide = sizeof(A) == 8 || sizeof(D) == 8;
    return wide ? static_cast<D>(std::make_unsigned_t<D>{1} << (8 * sizeof(D) - 1)) : D{0};
  }
  const A r = to_integral<R>(v);
  // 2^digits is exact in A, but the largest value of D may not be.
  const A limit = std::ldexp(A{1}, std::numeric_limits<D>::digits);
  if (r >= limit) return std::numeric_limits<D>::max();
  if (r < static_cast<A>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  return static_cast<D>(r);
}

[[gnu::always_inline]] inline f32 flush(f32 v) {
  const u32 bits = std::bit_cast<u32>(v);
  return (bits & 0x7f800000u) == 0 ? std::bit_cast<f32>(bits & 0x80000000u) : v;
}
[[gnu::always_inline]] inline f32 canonical(f32 v) {
  return v == v ? v : std::bit_cast<f32>(0x7fffffffu);
}
template <class T>
T saturate(T v) {
  return v > 0 ? (v < 1 ? v : T{1}) : T{0};
}

template <rounding R>
void with_rounding(op_table& t, const op_name& mode) {
  for_types<u32, s32, u64, s64>([&]<class A>() {
    add_op<f32, A>(t, "cvt.r" + mode + ".f32." + type_name<A>(),
                   [](A a) { return round_to<R, f32>(a); });
    add_op<f64, A>(t, "cvt.r" + mode + ".f64." + type_name<A>(),
                   [](A a) { return round_to<R, f64>(a); });
  });
  add_op<f32, f64>(t, "cvt.r" + mode + ".f32.f64", [](f64 a) { return round_to<R, f32>(a); });
  add_op<f32, f64>(t, "cvt.r" + mode + ".ftz.f32.f64",
                   [](f64 a) { return flush(round_to<R, f32>(a)); });
  add_op<f32, f64>(t, "cvt.r" + mode + ".sat.f32.f64",
                   [](f64 a) { return saturate(round_to<R, f32>(a)); });

  const op_name integral = "cvt.r" + mode + "i.";
  add_op<f32, f32>(t, integral + "f32.f32", [](f32 a) { return canonical(to_integral<R>(a)); });
  add_op<f32, f32>(t, integral + "ftz.f32.f32",
                   [](f32 a) { return canonical(to_integral<R>(flush(a))); });
  add_op<f32, f32>(t, integral + "sat.f32.f32", [](f32 a) { return saturate(to_integral<R>(a)); });
  add_op<f64, f64>(t, integral + "f64.f64", [](f64 a) { return to_integral<R>(a); });
  for_types<u16, s16, u32, s32, u64, s64>([&]<class D>() {
    add_op<D, f32>(t, integral + type_name<D>() + ".f32",
                   [](f32 a) { return to_integer<R, D>(a); });
    add_op<D, f32>(t, integral + "ftz." + type_name<D>() + ".f32",
                   [](f32 a) { return to_integer<R, D>(flush(a)); });
    add_op<D, f64>(t, integral + type_name<D>() + ".f64",
                   [](f64 a) { return to_integer<R, D>(a); });
  });
  // 8-bit results are computed in 32 bits.
  for_types<u8, s8>([&]<class D>() {
    using W = std::conditional_t<std::is_signed_v<D>, s32, u32>;
    add_op<W, f32>(t, integral + type_name<D>() + ".f32",
                   [](f32 a) -> W { return to_integer<R, D>(a); });
    add_op<W, f32>(t, integral + "ftz." + type_name<D>() + ".f32",
                   [](f32 a) -> W { return to_integer<R, D>(flush(a)); });
    add_op<W, f64>(t, integral + type_name<D>() + ".f64",
                   [](f64 a) -> W { return to_integer<R, D>(a); });
  });
}

// Clamps a 64-bit value of signed or unsigned type A to D.
template <class D, class A>
D clamp_to(A v) {
  using limits = std::numeric_limits<D>;
  if constexpr (std::is_signed_v<A>) {
    if (v < 0) {
      if constexpr (!std::is_signed_v<D>)
        return 0;
      else
        return v < static_cast<s64>(limits::min()) ? limits::min() : static_cast<D>(v);
    }
  }
  return static_cast<u64>(v) > static_cast<u64>(limits::max()) ? limits::max() : static_cast<D>(v);
}

// "extend.u8.b32": the low 8 bits of a 32-bit register as a 64-bit value.
// "store.u8.b32": a 64-bit value truncated to 8 bits and extended to a 32-bit register.
// "store.sat.u8.u64.b32" first clamps it as an unsigned value.
template <class T, class Register>
void widths(op_table& t) {
  const op_name bits = ".b" + bits_name<Register>();
  const op_name type = type_name<T>();
  using W = std::conditional_t<std::is_signed_v<T>, s64, u64>;
  using R = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<Register>, Register>;
  add_op<W, Register>(t, "extend." + type + bits,
                      [](Register a) { return static_cast<W>(static_cast<T>(a)); });
  add_op<R, u64>(t, "store." + type + bits,
                 [](u64 a) { return static_cast<R>(static_cast<T>(a)); });
  add_op<R, u64>(t, "store.sat." + type + ".u64" + bits,
                 [](u64 a) { return static_cast<R>(clamp_to<T>(a)); });
  add_op<R, s64>(t, "store.sat." + type + ".s64" + bits,
                 [](s64 a) { return static_cast<R>(clamp_to<T>(a)); });
}

}  // namespace

void convert_ops(op_table& t) {
  with_rounding<rounding::nearest>(t, "n");
  with_rounding<rounding::zero>(t, "z");
  with_rounding<rounding::down>(t, "m");
  with_rounding<rounding::up>(t, "p");
  add_op<f64, f32>(t, "cvt.f64.f32", [](f32 a) { return static_cast<f64>(a); });
  add_op<f64, f32>(t, "cvt.ftz.f64.f32", [](f32 a) { return static_cast<f64>(flush(a)); });
  add_op<f32, f32>(t, "cvt.f32.f32", [](f32 a) { return canonical(a); });
  add_op<f32, f32>(t, "cvt.ftz.f32.f32", [](f32 a) { return flush(canonical(a)); });
  add_op<f32, f32>(t, "cvt.sat.f32.f32", [](f32 a) { return saturate(a); });
  add_op<f32, f32>(t, "cvt.ftz.sat.f32.f32", [](f32 a) { return saturate(flush(a)); });
  add_op<f64, f64>(t, "cvt.f64.f64", [](f64 a) { return a; });
  add_op<f64, f64>(t, "cvt.sat.f64.f64", [](f64 a) { return saturate(a); });
  for_types<u16, s16, u32, s32, u64, s64>([&]<class D>() {
    for_types<u16, s16, u32, s32, u64, s64>([&]<class A>() {
      add_op<D, A>(t, "cvt." + type_name<D>() + "." + type_name<A>(),
                   [](A a) { return static_cast<D>(a); });
    });
  });
  for_types<u8, s8, u16, s16>([&]<class T>() {
    widths<T, u16>(t);
    widths<T, u32>(t);
    widths<T, u64>(t);
  });
  for_types<u32, s32>([&]<class T>() {
    widths<T, u32>(t);
    widths<T, u64>(t);
  });
  widths<u64, u64>(t);
  widths<s64, u64>(t);
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
