// Rounding to narrow formats, compared with exact integers.
#include "common/emulator/ops/narrow.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace stepwise::emulator;

namespace {

using exact = __int128;  // in units of 2^-scale

// Rounds n * 2^-scale to the nearest even number, in integers only. Returns the bits of F.
template <class F>
u32 nearest(exact n, int scale, bool zero_is_negative) {
  const bool negative = n < 0 || (n == 0 && zero_is_negative);
  const exact magnitude = n < 0 ? -n : n;
  if (magnitude == 0) return negative ? F::sign : 0;
  constexpr int smallest = 2 - (1 << (F::exponent_bits - 1));
  int exponent = -scale;  // of the leading bit
  for (exact m = magnitude; m > 1; m >>= 1) ++exponent;
  if (exponent < smallest) exponent = smallest;
  const int unit = exponent - F::mantissa_bits + scale;  // the result's last bit, in bits of n
  exact kept = unit >= 0 ? magnitude >> unit : magnitude << -unit;
  if (unit > 0) {
    const exact rest = magnitude - (kept << unit), half = exact{1} << (unit - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  const u32 bits =
      static_cast<u32>(kept) + (static_cast<u32>(exponent - smallest) << F::mantissa_bits);
  return (negative ? F::sign : 0) | (bits > F::largest ? F::infinite : bits);
}

// The number with these bits, in units of 2^-scale.
template <class F>
exact units(u32 bits, int scale) {
  const u32 magnitude = bits & (F::sign - 1), field = magnitude >> F::mantissa_bits;
  const u32 fraction = magnitude & ((1u << F::mantissa_bits) - 1);
  const int smallest = 2 - (1 << (F::exponent_bits - 1));
  const int exponent = smallest + static_cast<int>(field == 0 ? 0 : field - 1) - F::mantissa_bits;
  const exact value =
      static_cast<exact>(field == 0 ? fraction : fraction | (1u << F::mantissa_bits))
      << (exponent + scale);
  return bits & F::sign ? -value : value;
}

template <class F>
void each_number_and_its_midpoints() {
  const u32 top = F::infinite != 0 ? F::infinite : F::largest;
  unsigned wrong = 0;
  for (u32 b = 0; b < top; ++b) {
    const f64 low = widen<F>(b);
    for (const rounding mode :
         {rounding::nearest, rounding::zero, rounding::down, rounding::up, rounding::away}) {
      wrong += narrow<F>(low, mode) != b;
      wrong += narrow<F>(-low, mode) != (b | F::sign);
    }
    if (b + 1 > F::largest) continue;
    const f64 high = widen<F>(b + 1), middle = low + (high - low) / 2;
    const f64 below = std::nextafter(middle, low), above = std::nextafter(middle, high);
    wrong += narrow<F>(middle, rounding::nearest) != b + (b & 1);
    wrong += narrow<F>(middle, rounding::away) != b + 1;
    wrong += narrow<F>(below, rounding::nearest) != b;
    wrong += narrow<F>(above, rounding::nearest) != b + 1;
    wrong += narrow<F>(above, rounding::zero) != b;
    wrong += narrow<F>(below, rounding::up) != b + 1;
    wrong += narrow<F>(-below, rounding::up) != (b | F::sign);
    wrong += narrow<F>(-below, rounding::down) != ((b + 1) | F::sign);
  }
  CHECK(wrong == 0);
}

// Fused operations on numbers with exponent fields from `low_field` up to, not including,
// `high_field`.
template <class F, class Arithmetic>
void fused_against_integers(u32 low_field, u32 high_field, int scale) {
  std::mt19937 random(20261120);
  const auto number = [&](u32 low, u32 high) {
    const u32 field = low + random() % (high - low);
    const u32 fraction = random() & ((1u << F::mantissa_bits) - 1);
    return field << F::mantissa_bits | fraction | (random() & 1 ? F::sign : 0);
  };
  unsigned wrong = 0;
  for (int n = 0; n < 300000; ++n) {
    const u32 a = number(low_field, high_field), b = number(low_field, high_field);
    const u32 c = number(low_field, high_field);
    const exact product = units<F>(a, scale) * units<F>(b, scale);  // in units of 2^(-2 scale)
    const exact sum = product + (units<F>(c, scale) << scale);
    const u32 found = Arithmetic::fused(a, b, c);
    wrong += found != nearest<F>(sum, 2 * scale, ((a ^ b) & c & F::sign) != 0);
    wrong += Arithmetic::product(a, b) != nearest<F>(product, 2 * scale, ((a ^ b) & F::sign) != 0);
    const f32 plain = Arithmetic::value(a) + Arithmetic::value(c);
    wrong += Arithmetic::rounded(plain) !=
             nearest<F>(units<F>(a, scale) + units<F>(c, scale), scale, (a & c & F::sign) != 0);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("narrow formats: every number, and the midpoints between neighbours") {
  each_number_and_its_midpoints<f16>();
  each_number_and_its_midpoints<bf16>();
  each_number_and_its_midpoints<tf32>();
  each_number_and_its_midpoints<e4m3>();
  each_number_and_its_midpoints<e5m2>();
}

TEST_CASE("narrow formats: values beyond the largest number") {
  CHECK(narrow<f16>(65519.999, rounding::nearest) == 0x7bff);
  CHECK(narrow<f16>(65520, rounding::nearest) == 0x7c00);
  CHECK(narrow<f16>(1e300, rounding::zero) == 0x7bff);
  CHECK(narrow<f16>(-1e300, rounding::up) == 0xfbff);
  CHECK(narrow<f16>(-1e300, rounding::down) == 0xfc00);
  CHECK(narrow<f16>(1e300, rounding::nearest, true) == 0x7bff);
  CHECK(narrow<e4m3>(1e300, rounding::nearest) == 0x7e);
  CHECK(narrow<e4m3>(-HUGE_VAL, rounding::nearest) == 0xfe);
  CHECK(narrow<e5m2>(HUGE_VAL, rounding::nearest) == 0x7c);
  CHECK(narrow<e4m3>(NAN, rounding::nearest) == 0x7f);
}

TEST_CASE("narrow formats: the fast conversions agree with the exact ones") {
  unsigned wrong = 0;
  for (u32 h = 0; h < 0x10000; ++h) {
    const f64 half = widen<f16>(h), brain = widen<bf16>(h);
    wrong += half == half ? std::bit_cast<u32>(single_of_f16(h)) !=
                                std::bit_cast<u32>(static_cast<f32>(half))
                          : single_of_f16(h) == single_of_f16(h);
    wrong += brain == brain && static_cast<f64>(single_of_bf16(h)) != brain;
  }
  for (u64 bits = 0; bits < u64{1} << 32; bits += 1021) {
    const f32 v = std::bit_cast<f32>(static_cast<u32>(bits));
    wrong += f16_of(v) != narrow<f16>(v, rounding::nearest);
    wrong += bf16_of(v) != narrow<bf16>(v, rounding::nearest);
  }
  CHECK(wrong == 0);
}

namespace {

// Every number, the midpoints and their neighbours, and a sample of all floats.
template <class F>
void fast_conversions_agree() {
  unsigned wrong = 0;
  const auto compare = [&](f64 v) {
    for (const bool finite : {false, true})
      for (const f64 of : {v, -v})
        wrong += nearest_of<F>(of, finite) != narrow<F>(of, rounding::nearest, finite);
  };
  for (u32 b = 0; b < 2 * F::sign; ++b)
    wrong += std::bit_cast<u64>(double_of<F>(b)) != std::bit_cast<u64>(widen<F>(b));
  CHECK(wrong == 0);
  for (u32 b = 0; b < F::largest; ++b) {
    const f64 low = widen<F>(b), high = widen<F>(b + 1), middle = low + (high - low) / 2;
    for (const f64 v : {low, std::nextafter(low, high), std::nextafter(middle, low), middle,
                        std::nextafter(middle, high), std::nextafter(high, low)})
      compare(v);
  }
  CHECK(wrong == 0);
  for (u64 bits = 0; bits < u64{1} << 32; bits += 1021) {
    const f64 v = std::bit_cast<f32>(static_cast<u32>(bits));
    compare(v);
    compare(v * (1 + 0x1p-40));
  }
  const f64 largest = widen<F>(F::largest);
  for (const f64 v : {largest, largest * 1.01, largest * 1.5, largest * 4, 1e300, 0x1p-1074,
                      0x1p-150, HUGE_VAL, static_cast<f64>(NAN)})
    compare(v);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("narrow formats: the usual conversions agree with the exact ones") {
  fast_conversions_agree<f16>();
  fast_conversions_agree<bf16>();
  fast_conversions_agree<e4m3>();
  fast_conversions_agree<e5m2>();
}

TEST_CASE("half arithmetic is rounded once") {
  fused_against_integers<f16, f16_arithmetic>(0, 31, 24);
  fused_against_integers<bf16, bf16_arithmetic>(107, 147, 27);
  // 1.015625 * 1.25 is halfway between two numbers, so even the smallest addend decides.
  CHECK(bf16_arithmetic::fused(0x3f82, 0x3fa0, 0) == 0x3fa2);
  CHECK(bf16_arithmetic::fused(0x3f82, 0x3fa0, 0x0001) == 0x3fa3);
  CHECK(bf16_arithmetic::fused(0x3f82, 0x3fa0, 0x8001) == 0x3fa2);
}

TEST_CASE("64-bit integers become doubles rounded to odd") {
  CHECK(odd_double(u64{5}) == 5.0);
  CHECK(odd_double((u64{1} << 53) + 1) == 0x1p53 + 2);  // the odd neighbour is 2^53 + 2
  CHECK(narrow<single>(odd_double((u64{0x1000001} << 39) + 1), rounding::nearest) ==
        std::bit_cast<u32>(0x1.000002p63f));
  CHECK(odd_double(s64{-7}) == -7.0);
  CHECK(odd_double(std::numeric_limits<s64>::min()) == -0x1p63);
}
