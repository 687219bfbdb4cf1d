// Floating-point numbers of fewer bits than a float: f16, bf16, tf32, e4m3 and e5m2.
//
// idea    Widening is exact. A result is computed in a wider format, exactly or rounded to odd (the
//         last bit of an inexact result is 1), and then rounded once. With two bits to spare this
//         gives the correctly rounded result in every rounding mode (Boldo and Melquiond,
//         "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd",
//         2008).
// watch   In an unnamed namespace, like ops.hpp. Tested by tests/narrow_test.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator {
namespace {

enum class rounding { nearest, zero, down, up, away };  // away: to nearest, ties away from zero

// A format: the number of exponent and mantissa bits, and the bits of its largest number and
// canonical NaN. `infinite` is its infinity, or 0 if it has none.
template <int ExponentBits, int MantissaBits, u32 Largest, u32 Nan, u32 Infinite>
struct narrow_format {
  static constexpr int exponent_bits = ExponentBits, mantissa_bits = MantissaBits;
  static constexpr int bits = 1 + ExponentBits + MantissaBits;
  static constexpr u32 sign = 1u << (bits - 1);
  static constexpr u32 largest = Largest, nan = Nan, infinite = Infinite;
};
struct f16 : narrow_format<5, 10, 0x7bff, 0x7fff, 0x7c00> {};
struct bf16 : narrow_format<8, 7, 0x7f7f, 0x7fff, 0x7f80> {};
struct tf32 : narrow_format<8, 10, 0x3fbff, 0x3ffff, 0x3fc00> {};  // without its 13 unused bits
struct single : narrow_format<8, 23, 0x7f7fffff, 0x7fffffff, 0x7f800000> {};
struct e4m3 : narrow_format<4, 3, 0x7e, 0x7f, 0> {};
struct e5m2 : narrow_format<5, 2, 0x7b, 0x7f, 0x7c> {};

// Rounds v to F. A value above the largest number becomes infinity or, with `finite` or in a format
// without infinity, the largest number. An infinity stays infinite unless `finite`.
template <class F>
u32 narrow(f64 v, rounding mode, bool finite = false) {
  constexpr int bias = (1 << (F::exponent_bits - 1)) - 1, smallest = 1 - bias;
  const u64 bits = std::bit_cast<u64>(v);
  if (!(v == v)) return F::nan;
  const bool negative = (bits >> 63) != 0;
  const u32 sign = negative ? F::sign : 0;
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  const u64 fraction = bits & 0xfffffffffffffull;
  const bool keep_infinity = !finite && F::infinite != 0;
  if (field == 0x7ff) return sign | (keep_infinity ? F::infinite : F::largest);
  // v = mantissa * 2^(exponent - 52)
  const u64 mantissa = field == 0 ? fraction : fraction | (u64{1} << 52);
  const int exponent = field == 0 ? -1022 : field - 1023;
  int shift = 52 - F::mantissa_bits + (exponent < smallest ? smallest - exponent : 0);
  if (shift > 63) shift = 63;  // only a remainder below one half
  const u64 rest = mantissa & ((u64{1} << shift) - 1), half = u64{1} << (shift - 1);
  u64 kept = mantissa >> shift;
  const bool odd = (kept & 1) != 0;
  const bool up = mode == rounding::nearest ? rest > half || (rest == half && odd)
                  : mode == rounding::away  ? rest >= half
                  : mode == rounding::down  ? rest != 0 && negative
                  : mode == rounding::up    ? rest != 0 && !negative
                                            : false;
  kept += up;
  // A carry out of the mantissa correctly increments the exponent.
  u64 result = kept;
  if (exponent >= smallest) result += static_cast<u64>(exponent - smallest) << F::mantissa_bits;
  if (result <= F::largest) return sign | static_cast<u32>(result);
  const bool stops = mode == rounding::zero || (mode == rounding::down && !negative) ||
                     (mode == rounding::up && negative);
  return sign | (keep_infinity && !stops ? F::infinite : F::largest);
}

// Like narrow(), but with a GPU's NaNs for conversions from f64: they keep their sign and the upper
// bits of their mantissa, and are quiet.
template <class F>
u32 narrow_double(f64 v, rounding mode) {
  if (v == v) return narrow<F>(v, mode);
  const u64 bits = std::bit_cast<u64>(v);
  const u32 fraction = static_cast<u32>((bits & 0xfffffffffffffull) >> (52 - F::mantissa_bits));
  const u32 quiet = 1u << (F::mantissa_bits - 1);
  return ((bits >> 63) != 0 ? F::sign : 0) | F::infinite | quiet | fraction;
}

// The value of F's low bits in v; every NaN becomes a quiet NaN.
template <class F>
f64 widen(u32 v) {
  constexpr int smallest = 2 - (1 << (F::exponent_bits - 1));
  const bool negative = (v & F::sign) != 0;
  const u32 magnitude = v & (F::sign - 1);
  if (F::infinite != 0 ? magnitude > F::infinite : magnitude == F::nan)
    return std::numeric_limits<f64>::quiet_NaN();
  f64 value;
  if (F::infinite != 0 && magnitude == F::infinite) {
    value = std::numeric_limits<f64>::infinity();
  } else {
    const int field = static_cast<int>(magnitude >> F::mantissa_bits);
    const u32 fraction = magnitude & ((1u << F::mantissa_bits) - 1);
    const u32 mantissa = field == 0 ? fraction : fraction | (1u << F::mantissa_bits);
    const int exponent = (field == 0 ? smallest : smallest + field - 1) - F::mantissa_bits;
    value =
        static_cast<f64>(mantissa) * std::bit_cast<f64>(static_cast<u64>(1023 + exponent) << 52);
  }
  return negative ? -value : value;
}

// Moves `rounded` by one step to an odd last bit, given its rounding error.
[[gnu::always_inline]] inline f64 to_odd(f64 rounded, f64 error) {
  const u64 bits = std::bit_cast<u64>(rounded);
  const bool outwards = (error > 0) == (rounded > 0);
  const u64 moved = outwards ? bits + 1 : bits - 1;
  const bool adjust = error != 0 && error - error == 0 && (bits & 1) == 0;
  return std::bit_cast<f64>(adjust ? moved : bits);
}
[[gnu::always_inline]] inline f32 to_odd(f32 rounded, f32 error) {
  const u32 bits = std::bit_cast<u32>(rounded);
  const bool outwards = (error > 0) == (rounded > 0);
  const u32 moved = outwards ? bits + 1 : bits - 1;
  const bool adjust = error != 0 && error - error == 0 && (bits & 1) == 0;
  return std::bit_cast<f32>(adjust ? moved : bits);
}

// a + b rounded to odd: the error of a sum is exact (Knuth, "The Art of Computer Programming", vol.
// 2, 4.2.2, theorem B), as long as nothing overflows.
template <class T>
[[gnu::always_inline]] inline T odd_sum(T a, T b) {
  const T sum = a + b, part = sum - a;
  return to_odd(sum, (a - (sum - part)) + (b - part));
}

// v rounded to odd.
[[gnu::always_inline]] inline f32 odd_single(f64 v) {
  const f32 nearest = static_cast<f32>(v);
  const u32 bits = std::bit_cast<u32>(nearest);
  const f64 back = static_cast<f64>(nearest);
  const u32 moved = std::fabs(back) < std::fabs(v) ? bits + 1 : bits - 1;
  const bool inexact = back < v || back > v;
  return std::bit_cast<f32>(inexact && (bits & 1) == 0 ? moved : bits);
}

// 64-bit integers as f64, rounded to odd.
inline f64 odd_double(u64 v) {
  int shift = v >> 53 == 0 ? 0 : 11 - __builtin_clzll(v);
  const u64 kept = v >> shift, rest = v & ((u64{1} << shift) - 1);
  return std::ldexp(static_cast<f64>(rest != 0 ? kept | 1 : kept), shift);
}
inline f64 odd_double(s64 v) {
  return v < 0 ? -odd_double(-static_cast<u64>(v)) : odd_double(static_cast<u64>(v));
}

// --- fast conversions between f16, bf16 and f32, without branches -----------------------------

[[gnu::always_inline]] inline f32 single_of_f16(u32 h) {
  const u32 moved = (h & 0x7fff) << 13;
  const u32 finite = std::bit_cast<u32>(std::bit_cast<f32>(moved) * 0x1p112f);
  const u32 bits = (h & 0x7c00) == 0x7c00 ? moved | 0x7f800000u : finite;
  return std::bit_cast<f32>(bits | (h & 0x8000) << 16);
}
[[gnu::always_inline]] inline f32 single_of_bf16(u32 h) { return std::bit_cast<f32>(h << 16); }

// Rounds to nearest even.
[[gnu::always_inline]] inline u16 f16_of(f32 v) {
  const u32 bits = std::bit_cast<u32>(v), magnitude = bits & 0x7fffffffu;
  const u32 normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Below 2^-14 an addition moves the bits to their place in a subnormal f16.
  const u32 small =
      std::bit_cast<u32>(std::bit_cast<f32>(magnitude) + 0.5f) - std::bit_cast<u32>(0.5f);
  u32 result = magnitude < 0x38800000u ? small : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00 : result;
  result |= (bits >> 16) & 0x8000;
  return static_cast<u16>(magnitude > 0x7f800000u ? 0x7fff : result);
}
[[gnu::always_inline]] inline u16 bf16_of(f32 v) {
  const u32 bits = std::bit_cast<u32>(v);
  const u32 rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<u16>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fff : rounded);
}

// The value of F's low bits in v, for other formats; every NaN becomes a quiet NaN. Not for bf16,
// whose exponents are those of f32.
template <class F>
[[gnu::always_inline]] inline f32 single_of(u32 v) {
  constexpr int bias = (1 << (F::exponent_bits - 1)) - 1, shift = 23 - F::mantissa_bits;
  constexpr u32 above = F::infinite != 0 ? F::infinite : F::nan;
  const u32 magnitude = v & (F::sign - 1);
  const f32 scale = std::bit_cast<f32>(static_cast<u32>(254 - bias) << 23);
  const u32 finite = std::bit_cast<u32>(std::bit_cast<f32>(magnitude << shift) * scale);
  const u32 negative = (v & F::sign) << (32 - F::bits);
  const u32 infinity =
      F::infinite != 0 && magnitude == above ? 0x7f800000u | negative : 0x7fc00000u;
  return std::bit_cast<f32>(magnitude >= above ? infinity : finite | negative);
}
// Rounds to nearest even, like narrow().
template <class F>
[[gnu::always_inline]] inline u32 nearest_of(f32 v, bool finite) {
  constexpr int bias = (1 << (F::exponent_bits - 1)) - 1, shift = 23 - F::mantissa_bits;
  const u32 bits = std::bit_cast<u32>(v), magnitude = bits & 0x7fffffffu;
  const u32 normal = (magnitude - (static_cast<u32>(127 - bias) << 23) + ((1u << (shift - 1)) - 1) +
                      ((magnitude >> shift) & 1)) >>
                     shift;
  // The addend's last bit has the weight of the last bit of F's subnormal numbers.
  constexpr u32 addend = static_cast<u32>(127 + 24 - bias - F::mantissa_bits) << 23;
  const u32 small =
      std::bit_cast<u32>(std::bit_cast<f32>(magnitude) + std::bit_cast<f32>(addend)) - addend;
  u32 result = magnitude < (static_cast<u32>(128 - bias) << 23) ? small : normal;
  result = result > F::largest ? (finite || F::infinite == 0 ? F::largest : F::infinite) : result;
  result |= bits >> (32 - F::bits) & F::sign;
  return magnitude > 0x7f800000u ? F::nan : result;
}
template <class F>
[[gnu::always_inline]] inline u32 nearest_of(f64 v, bool finite) {
  return nearest_of<F>(odd_single(v), finite);
}
template <>
[[gnu::always_inline]] inline u32 nearest_of<bf16>(f64 v, bool finite) {
  const u32 result = bf16_of(odd_single(v));
  return finite && (result & 0x7fff) == bf16::infinite ? result - 1 : result;
}
template <class F>
[[gnu::always_inline]] inline f64 double_of(u32 v) {
  return static_cast<f64>(single_of<F>(v));
}
template <>
[[gnu::always_inline]] inline f64 double_of<bf16>(u32 v) {
  const f64 value = static_cast<f64>(single_of_bf16(v));
  return value == value ? value : std::numeric_limits<f64>::quiet_NaN();
}

// f16 arithmetic. Rounding a sum or product to f32 first still gives the right f16: 24 bits are two
// more than twice 11, and subnormal results are exact. a + b * c is rounded to odd first.
struct f16_arithmetic {
  static constexpr const char* name = "f16";
  static constexpr u32 largest = f16::largest, infinite = f16::infinite, one = 0x3c00;
  [[gnu::always_inline]] static f32 value(u32 h) { return single_of_f16(h); }
  [[gnu::always_inline]] static u16 rounded(f32 v) { return f16_of(v); }
  [[gnu::always_inline]] static u16 product(u32 a, u32 b) { return f16_of(value(a) * value(b)); }
  [[gnu::always_inline]] static u16 fused(u32 a, u32 b, u32 c) {
    return f16_of(odd_sum(value(a) * value(b), value(c)));
  }
};
// bf16 has the exponents of f32, in which products underflow, so they are computed in f64.
struct bf16_arithmetic {
  static constexpr const char* name = "bf16";
  static constexpr u32 largest = bf16::largest, infinite = bf16::infinite, one = 0x3f80;
  [[gnu::always_inline]] static f32 value(u32 h) { return single_of_bf16(h); }
  [[gnu::always_inline]] static u16 rounded(f32 v) { return bf16_of(v); }
  [[gnu::always_inline]] static u16 product(u32 a, u32 b) {
    return bf16_of(odd_single(static_cast<f64>(value(a)) * static_cast<f64>(value(b))));
  }
  [[gnu::always_inline]] static u16 fused(u32 a, u32 b, u32 c) {
    const f64 exact = static_cast<f64>(value(a)) * static_cast<f64>(value(b));
    return bf16_of(odd_single(odd_sum(exact, static_cast<f64>(value(c)))));
  }
};

}  // namespace
}  // namespace stepwise::emulator
