// Floating-point arithmetic with rounding .rz, .rm and .rp, computed with integers. WebAssembly
// needs this because it can only round to nearest.
//
// idea    A finite number is an integer times a power of two. An operation computes the leading
//         bits of its exact result. The last of these bits is also set if any bit below it is,
//         which is all that directed rounding needs to know. If an operand is infinite or NaN, or
//         the result is an exact infinity or NaN, the rounding does not matter, and the machine
//         computes it.
// watch   In an unnamed namespace, like ops.hpp.
// tested  tests/directed_test.cpp compares every operation with the rounding modes of x86.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "common/emulator/ops/narrow.hpp"

namespace stepwise::emulator {
namespace {

using u128 = unsigned __int128;

// significand * 2^exponent. A significand of 0 is a signed zero.
struct exact_number {
  bool negative;
  u128 significand;
  int exponent;
};

inline int leading_bit(u128 bits) {
  const u64 high = static_cast<u64>(bits >> 64), low = static_cast<u64>(bits);
  return high != 0 ? 127 - std::countl_zero(high) : 63 - std::countl_zero(low);
}
inline exact_number with_leading_bit_at(int place, exact_number n) {
  const int by = place - leading_bit(n.significand);
  return {n.negative, n.significand << by, n.exponent - by};
}
// Shifts right. The last bit is also set if any of the lost bits is set.
inline u128 shifted_right(u128 bits, int by) {
  if (by > 127) return bits != 0;
  const u128 kept = bits >> by;
  return kept | ((kept << by) != bits);
}

template <class T>
struct binary_format {
  using bits = std::conditional_t<sizeof(T) == 4, u32, u64>;
  static constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
  static constexpr int smallest = std::numeric_limits<T>::min_exponent - 1 - fraction_bits;
  static constexpr bits infinite = std::bit_cast<bits>(std::numeric_limits<T>::infinity());
};

template <class T>
exact_number exact(T v) {
  using format = binary_format<T>;
  const auto magnitude = std::bit_cast<typename format::bits>(std::abs(v));
  const int field = static_cast<int>(magnitude >> format::fraction_bits);
  const u64 leading = u64{1} << format::fraction_bits, fraction = magnitude & (leading - 1);
  if (field == 0) return {std::signbit(v), fraction, format::smallest};
  return {std::signbit(v), fraction | leading, format::smallest + field - 1};
}

template <class T>
T rounded(const exact_number& n, rounding mode) {
  using format = binary_format<T>;
  using bits = typename format::bits;
  bits magnitude = 0;
  if (n.significand != 0) {
    const int last = n.exponent + leading_bit(n.significand) - format::fraction_bits;
    const int unit = last < format::smallest ? format::smallest : last;  // of the result's last bit
    const int lost = unit - n.exponent;
    const u128 kept = lost <= 0 ? n.significand << -lost : lost > 127 ? 0 : n.significand >> lost;
    const bool inexact = lost > 0 && (lost > 127 || (kept << lost) != n.significand);
    const bool grows = mode == (n.negative ? rounding::down : rounding::up);
    // A carry out of the fraction correctly increments the exponent.
    const u64 sum = static_cast<u64>(kept) + (inexact && grows) +
                    (static_cast<u64>(unit - format::smallest) << format::fraction_bits);
    magnitude = sum < format::infinite ? static_cast<bits>(sum) : format::infinite - !grows;
  }
  return std::copysign(std::bit_cast<T>(magnitude), n.negative ? T{-1} : T{1});
}

// The exact sum, or its leading bits. Both numbers are first shifted up. This leaves enough bits
// below their last one for a difference with many leading zeros to be exact.
inline exact_number exact_sum(exact_number a, exact_number b, rounding mode) {
  const bool negative_zero = a.negative == b.negative ? a.negative : mode == rounding::down;
  if (a.significand == 0 && b.significand == 0) return {negative_zero, 0, 0};
  if (a.significand == 0) return b;
  if (b.significand == 0) return a;
  a = with_leading_bit_at(125, a);
  b = with_leading_bit_at(125, b);
  if (std::pair(a.exponent, a.significand) < std::pair(b.exponent, b.significand)) std::swap(a, b);
  const u128 smaller = shifted_right(b.significand, a.exponent - b.exponent);
  if (a.negative == b.negative) return {a.negative, a.significand + smaller, a.exponent};
  if (a.significand == smaller) return {negative_zero, 0, 0};
  return {a.negative, a.significand - smaller, a.exponent};
}
inline exact_number exact_product(const exact_number& a, const exact_number& b) {
  return {a.negative != b.negative, a.significand * b.significand, a.exponent + b.exponent};
}
// `b` is not zero.
inline exact_number exact_quotient(exact_number a, exact_number b) {
  if (a.significand == 0) return {a.negative != b.negative, 0, 0};
  a = with_leading_bit_at(127, a);
  b = with_leading_bit_at(62, b);
  const u128 whole = a.significand / b.significand;
  const bool rest = whole * b.significand != a.significand;
  return {a.negative != b.negative, whole | rest, a.exponent - b.exponent};
}
// `a` is not negative, but may be -0.
inline exact_number exact_root(exact_number a) {
  if (a.significand == 0) return a;
  a = with_leading_bit_at(126, a);
  if (a.exponent % 2 != 0) a = {false, a.significand >> 1, a.exponent + 1};  // its last bit is 0
  u128 whole = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const u128 more = whole | u128{1} << bit;
    if (more * more <= a.significand) whole = more;
  }
  return {false, whole | (whole * whole != a.significand), a.exponent / 2};
}

// A number whose operations round their results in the direction `Mode`.
template <class T, rounding Mode>
struct directed_number {
  T value;
};

template <class... T>
bool all_finite(T... values) {
  return (std::isfinite(values) && ...);
}
template <class T, rounding Mode>
directed_number<T, Mode> operator+(directed_number<T, Mode> a, directed_number<T, Mode> b) {
  if (!all_finite(a.value, b.value)) return {a.value + b.value};
  return {rounded<T>(exact_sum(exact(a.value), exact(b.value), Mode), Mode)};
}
template <class T, rounding Mode>
directed_number<T, Mode> operator-(directed_number<T, Mode> a, directed_number<T, Mode> b) {
  if (!all_finite(a.value, b.value)) return {a.value - b.value};
  return a + directed_number<T, Mode>{-b.value};
}
template <class T, rounding Mode>
directed_number<T, Mode> operator*(directed_number<T, Mode> a, directed_number<T, Mode> b) {
  if (!all_finite(a.value, b.value)) return {a.value * b.value};
  return {rounded<T>(exact_product(exact(a.value), exact(b.value)), Mode)};
}
template <class T, rounding Mode>
directed_number<T, Mode> operator/(directed_number<T, Mode> a, directed_number<T, Mode> b) {
  if (!all_finite(a.value, b.value) || b.value == 0) return {a.value / b.value};
  return {rounded<T>(exact_quotient(exact(a.value), exact(b.value)), Mode)};
}
template <class T, rounding Mode>
directed_number<T, Mode> fma(directed_number<T, Mode> a, directed_number<T, Mode> b,
                             directed_number<T, Mode> c) {
  if (!all_finite(a.value, b.value, c.value)) return {std::fma(a.value, b.value, c.value)};
  const exact_number ab = exact_product(exact(a.value), exact(b.value));
  return {rounded<T>(exact_sum(ab, exact(c.value), Mode), Mode)};
}
template <class T, rounding Mode>
directed_number<T, Mode> sqrt(directed_number<T, Mode> a) {
  if (!all_finite(a.value) || a.value < 0) return {std::sqrt(a.value)};
  return {rounded<T>(exact_root(exact(a.value)), Mode)};
}

}  // namespace
}  // namespace stepwise::emulator
