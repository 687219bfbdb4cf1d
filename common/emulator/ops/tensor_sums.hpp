// Sums of floating-point products as Hopper's tensor cores compute them, bit for bit.
//
// idea    All products of one instruction and the addend are aligned to the largest exponent among
//         them. Each is truncated `fraction_bits` below this exponent. Their sum is then
//         exact, and the result is truncated, too. A product's exponent is the sum of its operands'
//         exponents: the product of 1.5 and 1.5 has the exponent 0, although its value is 2.25.
// source  61,440 sums per type on an H200, with random exponents and with cancellation. This model
//         gives the bits of all of them. H100s and H200s have the same tensor cores.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/emulator/machine/matrix.hpp"
#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator {
namespace {

// How a sum is stored: truncated to 24 or to 14 bits, or rounded to odd, so that a later rounding
// to f16 rounds the exact sum.
enum class sum_end : std::uint8_t { truncated_to_24, truncated_to_14, odd };

struct sum_rule {
  int fraction_bits;
  sum_end end;
};
inline constexpr sum_rule wide_sum{25, sum_end::truncated_to_24};    // f16, bf16, tf32
inline constexpr sum_rule half_sum{25, sum_end::odd};                // the same, stored as f16
inline constexpr sum_rule narrow_sum{13, sum_end::truncated_to_14};  // fp8 in wgmma

// Exponents for zeros and for values that are not finite. They stay recognisable when another
// exponent is added to them.
inline constexpr s32 zero_exponent = -1000, special_exponent = 5000;

// The exponent of a value whose type's smallest normal value is 2^least. A subnormal value of the
// type has the exponent `least`, even if it is normal as f32.
[[gnu::always_inline]] inline s32 exponent_of(f32 value, s32 least) {
  const s32 biased = static_cast<s32>(std::bit_cast<u32>(value) >> 23 & 255);
  return value == 0      ? zero_exponent
         : biased == 255 ? special_exponent
                         : std::max(biased - 127, least);
}
inline s32 least_exponent(matrix_type t) {
  return t == matrix_type::f16 || t == matrix_type::e5m2 ? -14 : t == matrix_type::e4m3 ? -6 : -126;
}

// The bits of a double below those that the result keeps.
constexpr u64 dropped_bits(sum_end end) {
  return (u64{1} << (end == sum_end::truncated_to_14 ? 39 : 29)) - 1;
}

// One sum in any range: c + a[0] b[0] + a[1] b[stride] + ...
inline f32 sum_one(const sum_rule& rule, u32 k, const f32* a, const f32* b, u32 stride, f32 c,
                   s32 top) {
  f64 total = 0;
  if (top > 1000) {  // infinities and NaNs
    for (u32 p = 0; p < k; ++p) total += static_cast<f64>(a[p]) * b[p * stride];
    return static_cast<f32>(total + c);
  }
  const int unit = top - rule.fraction_bits;
  for (u32 p = 0; p < k; ++p)
    total += std::trunc(std::ldexp(static_cast<f64>(a[p]) * b[p * stride], -unit));
  total += std::trunc(std::ldexp(static_cast<f64>(c), -unit));
  const f64 sum = std::ldexp(total, unit);
  const u64 bits = std::bit_cast<u64>(sum), dropped = dropped_bits(rule.end);
  if (std::abs(sum) < std::numeric_limits<f32>::min())
    return static_cast<f32>(std::ldexp(std::trunc(std::ldexp(sum, 149)), -149));
  const u64 odd = rule.end == sum_end::odd && (bits & dropped) != 0 ? dropped + 1 : 0;
  return static_cast<f32>(std::bit_cast<f64>((bits & ~dropped) | odd));
}

template <u32 Wide>
struct vectors {
  typedef f32 floats __attribute__((vector_size(4 * Wide)));
  typedef s32 ints __attribute__((vector_size(4 * Wide)));
  typedef f64 doubles __attribute__((vector_size(8 * Wide)));
  typedef s64 longs __attribute__((vector_size(8 * Wide)));
};

// `Wide` neighbouring sums of one row. The fast path is for sums whose aligned terms fit in 32 bits
// and whose results are normal; the others are made one by one.
template <u32 Wide>
void sum_some(const sum_rule& rule, s32 least_of_c, u32 k, u32 n, const f32* a,
              const s32* a_exponents, const f32* b, const s32* b_exponents, f32* c) {
  using floats = typename vectors<Wide>::floats;
  using ints = typename vectors<Wide>::ints;
  using doubles = typename vectors<Wide>::doubles;
  using longs = typename vectors<Wide>::longs;
  ints top;
  for (u32 l = 0; l < Wide; ++l) top[l] = exponent_of(c[l], least_of_c);
  for (u32 p = 0; p < k; ++p) {
    ints e;
    std::memcpy(&e, b_exponents + p * n, sizeof e);
    e += a_exponents[p];
    top = e > top ? e : top;
  }
  constexpr s32 least = -90, most = 100, nothing = -500;
  const ints bounded = top < least ? ints{} + least : top > most ? ints{} + most : top;
  const ints is_slow = (top != bounded) & (top > nothing);
  const floats scale = (floats)((127 + rule.fraction_bits - bounded) << 23);
  floats addend;
  std::memcpy(&addend, c, sizeof addend);
  ints sums[2] = {};  // of half of the products each, which cannot overflow
  for (u32 p = 0; p < k; ++p) {
    floats right;
    std::memcpy(&right, b + p * n, sizeof right);
    sums[p * 2 / k] += __builtin_convertvector(a[p] * right * scale, ints);
  }
  doubles total = __builtin_convertvector(sums[0], doubles) +
                  __builtin_convertvector(sums[1], doubles) +
                  __builtin_convertvector(__builtin_convertvector(addend * scale, ints), doubles);
  const longs unit = __builtin_convertvector(bounded, longs) + (1023 - rule.fraction_bits);
  total *= (doubles)(unit << 52);
  const auto dropped = static_cast<s64>(dropped_bits(rule.end));
  longs bits = (longs)total;
  const longs odd = (bits & dropped) != 0 ? longs{} + (dropped + 1) : longs{};
  bits &= ~dropped;
  if (rule.end == sum_end::odd) bits |= odd;
  const floats result = __builtin_convertvector((doubles)bits, floats);
  for (u32 l = 0; l < Wide; ++l)
    c[l] = is_slow[l] != 0 ? sum_one(rule, k, a, b + l, n, c[l], top[l]) : result[l];
}

// The exponents of `count` values.
inline void find_exponents(const f32* values, u32 count, s32 least, s32* exponents) {
  for (u32 e = 0; e < count; ++e) exponents[e] = exponent_of(values[e], least);
}

// The types of the elements of A, B, and of C and D.
struct sum_types {
  matrix_type a, b, c;
};

// c += a b, as one instruction, for a of m x k, b of k x n and c of m x n elements, all stored by
// rows. n is a multiple of 8. `exponents` has room for m k + k n values.
inline void add_products(const sum_rule& rule, const sum_types& types, const matrix_shape& f,
                         const f32* a, const f32* b, f32* c, s32* exponents) {
  s32* const of_b = exponents + f.m * f.k;
  find_exponents(a, f.m * f.k, least_exponent(types.a), exponents);
  find_exponents(b, f.k * f.n, least_exponent(types.b), of_b);
  const auto rows = [&]<u32 Wide>() {
    for (u32 row = 0; row < f.m; ++row)
      for (u32 col = 0; col < f.n; col += Wide)
        sum_some<Wide>(rule, least_exponent(types.c), f.k, f.n, a + row * f.k,
                       exponents + row * f.k, b + col, of_b + col, c + row * f.n + col);
  };
  f.n % 16 == 0 ? rows.template operator()<16>() : rows.template operator()<8>();
}

}  // namespace
}  // namespace stepwise::emulator
