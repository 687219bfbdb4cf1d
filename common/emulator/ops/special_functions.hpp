// A GPU's special function unit, bit for bit: reciprocals, roots, exp2, log2, sin, cos and tanh of
// floats; and the PTX instructions that ptxas implements with it.
//
// idea    The unit interpolates: the upper bits of the operand choose a segment of a table, and the
//         17 bits below them, x, enter c0 + c1 * x + c2 * x * x, computed in fixed point and
//         truncated. x * x lacks the partial products below a certain column. This design is
//         published: Oberman and Siu, "A High-Performance Area-Efficient Multifunction
//         Interpolator", ARITH 2005. The coefficients and the truncated columns are measured
//         (special_tables.hpp). A lane loads its segment as one word.
//         An operation is a struct: the table, the place of an operand in it, and the result made
//         from the sum. An op runs each of these parts for all 32 lanes, so that all are vector
//         code.
// watch   In an unnamed namespace, like ops.hpp. There are no branches, so even a place or number
//         whose result is not selected must be inside its table or fit its integer.
// source  The sequences around the unit's operations (scaling of subnormal operands and the like)
//         are those of ptxas 13.0 for sm_90. Tested by tests/special_functions_test.cpp and
//         common/runtime/conformance/math/math_approximate.cu.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>

#include "common/emulator/ops/ops.hpp"
#include "common/emulator/ops/special_tables.hpp"

namespace stepwise::emulator {
namespace {

// The unit's operations, which take and return the bits of a float. Subnormal operands and results
// are zeros, except in hyperbolic_tangent. A NaN is 0x7fffffff.
namespace unit {

constexpr u32 sign_bit = 0x80000000u, infinite = 0x7f800000u, nan = 0x7fffffffu, hidden = 1u << 23;

// A segment and 17 bits within it.
struct place {
  s32 segment, x;
};

// x * x / 2^19 without the partial products below column 19. The remaining products are those of
// the upper 8 bits with each other and of seven lower bits with some upper bits. All fit in 16
// bits.
template <int Bit>
[[gnu::always_inline]] inline u16 partial(u16 lower, u16 upper) {
  return static_cast<u16>((lower & (1 << (Bit - 2))) != 0 ? upper >> (8 - Bit) : 0);
}
[[gnu::always_inline]] inline u16 square(u16 lower, u16 upper, u16 high) {
  return static_cast<u16>((static_cast<u16>(high * high) >> 1) + partial<2>(lower, upper) +
                          partial<3>(lower, upper) + partial<4>(lower, upper) +
                          partial<5>(lower, upper) + partial<6>(lower, upper) +
                          partial<7>(lower, upper) + partial<8>(lower, upper));
}
[[gnu::always_inline]] inline s32 square(s32 x) {
  return square(static_cast<u16>((x >> 2) & 0x7f), static_cast<u16>(x >> 10),
                static_cast<u16>(x >> 9));
}

// The sum of a segment's polynomial in units of 2^-41; not negative.
template <const auto& Table>
[[gnu::always_inline]] inline s64 interpolated(u64 segment, s32 x, s32 square) {
  constexpr packing p = Table.packed;
  const s64 c0 = static_cast<s64>(segment >> p.lower << (15 + p.zeros[0]));
  const s32 c1 = static_cast<s32>(segment >> (p.lower - 32)) >> (32 - p.lower + p.width2);
  const s32 c2 = static_cast<s32>(segment << (32 - p.width2)) >> (32 - p.width2);
  return c0 + Table.fraction + static_cast<s64>(c1) * (x << p.zeros[1]) +
         static_cast<s64>(c2) * (square << (2 + p.zeros[2]));
}
// The sum in units of 2^-24: whole() truncates it, exact() does not.
[[gnu::always_inline]] inline u32 whole(s64 sum) { return static_cast<u32>(sum >> 17); }
[[gnu::always_inline]] inline f64 exact(s64 sum) {
  // Uses the bits of 2^52, because not every instruction set converts 64-bit integers.
  return (std::bit_cast<f64>(sum | 0x4330000000000000) - 0x1p52) * 0x1p-17;
}

// v * 2^-24 as a float, truncated; v is 0 or at least 2^-100.
[[gnu::always_inline]] inline u32 truncated(f64 v) {
  const u64 kept = std::bit_cast<u64>(v * 0x1p-24) & ~((u64{1} << 29) - 1);
  return std::bit_cast<u32>(static_cast<f32>(std::bit_cast<f64>(kept)));
}

struct reciprocal {
  static constexpr const auto& table = reciprocal_table;
  [[gnu::always_inline]] static place of(u32 a) {
    return {static_cast<s32>((a >> 16) & 0x7f), static_cast<s32>((a & 0xffff) << 1)};
  }
  [[gnu::always_inline]] static u32 result(u32 a, s64 sum) {
    const u32 magnitude = a & ~sign_bit;
    u32 r = (252u << 23) - (magnitude & infinite) + whole(sum);
    r = magnitude > 0x7e800000u ? 0 : r;
    r = magnitude < hidden ? infinite : r;
    r |= a & sign_bit;
    return magnitude > infinite ? nan : r;
  }
};

// A number is 2^(2 * half - 128) * m, with m in [1, 4).
[[gnu::always_inline]] inline u32 half_exponent(u32 a) { return (a + hidden) >> 24; }
[[gnu::always_inline]] inline place root_place(u32 a) {
  const u32 m = (a ^ hidden) & 0xffffff;
  return {static_cast<s32>(m >> 17), static_cast<s32>(m & 0x1ffff)};
}

struct reciprocal_root {
  static constexpr const auto& table = reciprocal_root_table;
  [[gnu::always_inline]] static place of(u32 a) { return root_place(a); }
  [[gnu::always_inline]] static u32 result(u32 a, s64 sum) {
    const u32 mantissa = (a & 0xffffff) == hidden ? 1u << 24 : whole(sum);
    u32 r = ((189 - half_exponent(a)) << 23) + mantissa;
    r = a >= infinite ? 0 : r;
    r = a > infinite ? nan : r;
    return (a & infinite) == 0 ? (a & sign_bit) | infinite : r;
  }
};

struct root {
  static constexpr const auto& table = root_table;
  [[gnu::always_inline]] static place of(u32 a) { return root_place(a); }
  [[gnu::always_inline]] static u32 result(u32 a, s64 sum) {
    u32 r = ((62 + half_exponent(a)) << 23) + (whole(sum) >> 1);
    r = a >= infinite ? infinite : r;
    r = a > infinite ? nan : r;
    return (a & infinite) == 0 ? a & sign_bit : r;
  }
};

// The operand becomes a fixed-point number with 23 fractional bits. A negative number that is not
// whole is complemented bit by bit, so it is 2^-23 too low.
struct exp2 {
  static constexpr const auto& table = exp2_table;
  [[gnu::always_inline]] static s32 fixed(u32 a) {
    const u32 magnitude = a & ~sign_bit;
    const u32 limited = magnitude < 0x43000000u ? magnitude : 0x43000000u;
    const s32 v = static_cast<s32>(std::bit_cast<f32>(limited) * 0x1p23f);
    const s32 below = (v & 0x7fffff) != 0 ? ~v : -v;
    return (a & sign_bit) != 0 ? below : v;
  }
  [[gnu::always_inline]] static place of(u32 a) {
    const s32 v = fixed(a);
    return {(v >> 17) & 0x3f, v & 0x1ffff};
  }
  [[gnu::always_inline]] static u32 result(u32 a, s64 sum) {
    const u32 magnitude = a & ~sign_bit, exponent = static_cast<u32>((fixed(a) >> 23) + 126);
    u32 r = (exponent << 23) + (whole(sum) >> 1);
    r = magnitude >= 0x43000000u ? infinite : r;
    r = a > 0xc2fc0000u ? 0 : r;
    return magnitude > infinite ? nan : r;
  }
};

// The sum of exponent and interpolated logarithm has 36 fractional bits.
struct log2 {
  static constexpr const auto& table = log2_table;
  [[gnu::always_inline]] static place of(u32 a) {
    return {static_cast<s32>((a >> 17) & 0x3f), static_cast<s32>(a & 0x1ffff)};
  }
  [[gnu::always_inline]] static u32 result(u32 a, s64 sum) {
    const s32 exponent = static_cast<s32>((a >> 23) & 0xff) - 127;
    u32 r = truncated(std::trunc((exponent * 0x1p24 + exact(sum)) * 0x1p12) * 0x1p-12);
    r = a == 0x3f800000u ? 0 : r;
    r = a >= infinite ? a : r;
    r = a > infinite ? nan : r;
    return (a & infinite) == 0 ? sign_bit | infinite : r;
  }
};

// The operand's fraction of a revolution in units of 2^-25, without its sign. The multiplication by
// 1 / (2 * pi) is a separate instruction, which truncates. In the second and fourth quarter, the
// position within the quarter is complemented bit by bit.
template <bool Cosine>
struct wave {
  static constexpr const auto& table = sine_table;
  [[gnu::always_inline]] static u32 phase(u32 a) {
    const u32 magnitude = a & ~sign_bit;
    const f64 v = std::bit_cast<f32>(magnitude < infinite ? magnitude : 0);
    const u64 product = std::bit_cast<u64>(v * static_cast<f64>(std::bit_cast<f32>(0x3e22f983u)));
    const f64 revolutions = std::bit_cast<f64>(product & ~((u64{1} << 29) - 1));
    const f64 part = revolutions - std::trunc(revolutions);
    return static_cast<u32>(static_cast<s32>(part * 0x1p25)) + (Cosine ? hidden : 0);
  }
  [[gnu::always_inline]] static place of(u32 a) {
    const u32 p = phase(a), v = (p & hidden) != 0 ? ~p : p;
    return {static_cast<s32>((v >> 17) & 0x3f), static_cast<s32>(v & 0x1ffff)};
  }
  [[gnu::always_inline]] static u32 result(u32 a, s64 sum) {
    const u32 p = phase(a), interpolation = truncated(exact(sum));
    u32 r = interpolation < 0x3f800000u ? interpolation : 0x3f800000u;
    r = (p & 0xffffff) == hidden ? 0x3f800000u : r;
    r |= (p & (hidden << 1)) << 7;
    r = Cosine ? r : r ^ (a & sign_bit);
    return (a & ~sign_bit) >= infinite ? nan : r;
  }
};
using sine = wave<false>;
using cosine = wave<true>;

// An operand below 2^-8, even if subnormal, is its own result. A binade has 1 to 16 segments.
struct hyperbolic_tangent {
  static constexpr const auto& table = tanh_table;
  [[gnu::always_inline]] static place of(u32 a) {
    const u32 magnitude = a & ~sign_bit;
    const bool inside = magnitude >= 0x3b800000u && magnitude < 0x41000000u;
    const s32 v = static_cast<s32>(inside ? magnitude : 0x3b800000u);
    const s32 binade = (v >> 23) - 119, mantissa = v & 0x7fffff;
    const s32 bits = tanh_binades[binade][0], first = tanh_binades[binade][1];
    return {first + ((mantissa << bits) >> 23), ((mantissa << bits) & 0x7fffff) >> 6};
  }
  [[gnu::always_inline]] static u32 result(u32 a, s64 sum) {
    const u32 magnitude = a & ~sign_bit, interpolation = truncated(exact(sum));
    u32 r = interpolation < 0x3f800000u ? interpolation : 0x3f800000u;
    r = magnitude >= 0x41000000u ? 0x3f800000u : r;
    r = magnitude < 0x3b800000u ? magnitude : r;
    r |= a & sign_bit;
    return magnitude > infinite ? nan : r;
  }
};

// The upper words of a double's reciprocal and reciprocal root, computed as for floats but with 20
// bits of mantissa.
struct upper_reciprocal {
  static constexpr const auto& table = reciprocal_table;
  static constexpr u32 infinite = 0x7ff00000u, lowest = 0x00100000u;
  [[gnu::always_inline]] static place of(u32 a) {
    return {static_cast<s32>((a >> 13) & 0x7f), static_cast<s32>((a & 0x1fff) << 4)};
  }
  [[gnu::always_inline]] static u32 result(u32 a, s64 sum) {
    const u32 magnitude = a & ~sign_bit;
    u32 r = (2044u << 20) - (magnitude & infinite) + (whole(sum) >> 3);
    r = magnitude > 0x7fd00000u ? 0 : r;
    r = magnitude < lowest ? infinite : r;
    r |= a & sign_bit;
    return magnitude > infinite ? nan : r;
  }
};
// A number is 2^(2 * half - 1024) * m, with m in [1, 4).
struct upper_reciprocal_root {
  static constexpr const auto& table = reciprocal_root_table;
  static constexpr u32 infinite = upper_reciprocal::infinite, lowest = upper_reciprocal::lowest;
  [[gnu::always_inline]] static u32 mantissa(u32 a) { return (a ^ lowest) & 0x1fffff; }
  [[gnu::always_inline]] static place of(u32 a) {
    const u32 m = mantissa(a);
    return {static_cast<s32>(m >> 14), static_cast<s32>((m & 0x3fff) << 3)};
  }
  [[gnu::always_inline]] static u32 result(u32 a, s64 sum) {
    const u32 half = (a + lowest) >> 21;
    u32 r = ((1533 - half) << 20) + (mantissa(a) == 0 ? 1u << 21 : whole(sum) >> 3);
    r = a >= infinite ? 0 : r;
    r = a > infinite ? nan : r;
    return (a & infinite) == 0 ? (a & sign_bit) | infinite : r;
  }
};

// One operand.
template <class Operation>
u32 compute(u32 a) {
  const place p = Operation::of(a);
  return Operation::result(
      a, interpolated<Operation::table>(Operation::table.of[p.segment], p.x, square(p.x)));
}

// words[l] = table[segments[l]].
[[gnu::always_inline]] inline void gather(const u64* table, const s32 (&segments)[lanes],
                                          u64 (&words)[lanes]) {
#if defined(__AVX512F__)
  for (int l = 0; l < lanes; l += 8) {
    const __m256i of = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(segments + l));
    const __m512i before = _mm512_setzero_si512();
    _mm512_storeu_si512(words + l, _mm512_mask_i32gather_epi64(before, 0xff, of, table, 8));
  }
#elif defined(__AVX2__)
  for (int l = 0; l < lanes; l += 4) {
    const __m128i of = _mm_loadu_si128(reinterpret_cast<const __m128i*>(segments + l));
    const auto* const from = reinterpret_cast<const long long*>(table);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + l), _mm256_i32gather_epi64(from, of, 8));
  }
#else
  for (int l = 0; l < lanes; ++l) words[l] = table[segments[l]];
#endif
}

// All lanes, whether active or not.
template <class Operation>
[[gnu::always_inline]] inline void compute(const u32 (&a)[lanes], u32 (&results)[lanes]) {
  s32 segments[lanes], xs[lanes];
  u16 lower[lanes], upper[lanes], high[lanes], squares[lanes];
  u64 words[lanes];
  s64 sums[lanes];
  for (int l = 0; l < lanes; ++l) {
    const place p = Operation::of(a[l]);
    segments[l] = p.segment;
    xs[l] = p.x;
  }
  gather(Operation::table.of, segments, words);
  for (int l = 0; l < lanes; ++l) {
    lower[l] = static_cast<u16>((xs[l] >> 2) & 0x7f);
    high[l] = static_cast<u16>(xs[l] >> 9);
  }
  for (int l = 0; l < lanes; ++l) upper[l] = high[l] >> 1;
  for (int l = 0; l < lanes; ++l) squares[l] = square(lower[l], upper[l], high[l]);
  for (int l = 0; l < lanes; ++l)
    sums[l] = interpolated<Operation::table>(words[l], xs[l], squares[l]);
  for (int l = 0; l < lanes; ++l) results[l] = Operation::result(a[l], sums[l]);
}

}  // namespace unit

// --- the instructions -------------------------------------------------------------------------
//
// Each instruction scales its operand by a power of two, applies the unit's operation and finishes
// the result. Ftz: the .ftz form, where the unit's own treatment of subnormals is right.

[[gnu::always_inline]] inline f32 with_nan(f32 a) {
  return a == a ? a : std::bit_cast<f32>(unit::nan);
}

template <class Operation, bool Ftz>
struct approximate;

template <class Unit>
struct unscaled {
  using operation = Unit;
  [[gnu::always_inline]] static f32 operand(f32 a) { return a; }
  [[gnu::always_inline]] static f32 finished(f32, f32 r) { return r; }
};
template <class Operation>
struct approximate<Operation, true> : unscaled<Operation> {};
template <bool Cosine>
struct approximate<unit::wave<Cosine>, false> : unscaled<unit::wave<Cosine>> {};
template <>
struct approximate<unit::hyperbolic_tangent, false> : unscaled<unit::hyperbolic_tangent> {};

[[gnu::always_inline]] inline bool subnormal(f32 a) { return std::fabs(a) < 0x1p-126f; }

template <>
struct approximate<unit::reciprocal, false> {
  using operation = unit::reciprocal;
  [[gnu::always_inline]] static f32 scale(f32 a) {
    const f32 large = std::fabs(a) > 0x1p126f ? 0.25f : 1.0f;
    return subnormal(a) ? 0x1p24f : large;
  }
  [[gnu::always_inline]] static f32 operand(f32 a) { return a * scale(a); }
  [[gnu::always_inline]] static f32 finished(f32 a, f32 r) { return with_nan(r * scale(a)); }
};
template <>
struct approximate<unit::root, false> {
  using operation = unit::root;
  [[gnu::always_inline]] static f32 operand(f32 a) { return a * (subnormal(a) ? 0x1p24f : 1.0f); }
  [[gnu::always_inline]] static f32 finished(f32 a, f32 r) {
    return with_nan(r * (subnormal(a) ? 0x1p-12f : 1.0f));
  }
};
template <>
struct approximate<unit::reciprocal_root, false> {
  using operation = unit::reciprocal_root;
  [[gnu::always_inline]] static f32 operand(f32 a) { return a * (subnormal(a) ? 0x1p24f : 1.0f); }
  [[gnu::always_inline]] static f32 finished(f32 a, f32 r) {
    return with_nan(r * (subnormal(a) ? 0x1p12f : 1.0f));
  }
};
template <>
struct approximate<unit::exp2, false> {
  using operation = unit::exp2;
  [[gnu::always_inline]] static f32 operand(f32 a) { return a * (a < -126.0f ? 0.5f : 1.0f); }
  [[gnu::always_inline]] static f32 finished(f32 a, f32 r) {
    return with_nan(r * (a < -126.0f ? r : 1.0f));
  }
};
template <>
struct approximate<unit::log2, false> {
  using operation = unit::log2;
  [[gnu::always_inline]] static f32 operand(f32 a) { return a * (subnormal(a) ? 0x1p24f : 1.0f); }
  [[gnu::always_inline]] static f32 finished(f32 a, f32 r) {
    return with_nan(r - (subnormal(a) ? 24.0f : 0.0f));
  }
};

// The instruction's result for one operand.
template <class Operation, bool Ftz>
f32 approximated(f32 a) {
  using form = approximate<Operation, Ftz>;
  const u32 bits = std::bit_cast<u32>(form::operand(a));
  return form::finished(a, std::bit_cast<f32>(unit::compute<typename form::operation>(bits)));
}

// The instruction's results for a warp's operands.
template <class Operation, bool Ftz>
[[gnu::always_inline]] inline void approximated(const f32* a, f32 (&results)[lanes]) {
  using form = approximate<Operation, Ftz>;
  u32 operands[lanes], bits[lanes];
  for (int l = 0; l < lanes; ++l) operands[l] = std::bit_cast<u32>(form::operand(a[l]));
  unit::compute<typename form::operation>(operands, bits);
  for (int l = 0; l < lanes; ++l) results[l] = form::finished(a[l], std::bit_cast<f32>(bits[l]));
}

// a / b, as a product with the reciprocal. Both factors are scaled first and, with Ftz, flushed.
// Full: div.full, for divisors of any size.
template <bool Ftz, bool Full>
struct quotient {
  [[gnu::always_inline]] static f32 flushed(f32 v) {
    const u32 bits = std::bit_cast<u32>(v);
    return Ftz && (bits & unit::infinite) == 0 ? std::bit_cast<f32>(bits & unit::sign_bit) : v;
  }
  [[gnu::always_inline]] static f32 scale(f32 b) {
    const f32 large = Full && std::fabs(b) > 0x1p126f ? 0.25f : 1.0f;
    return !Ftz && subnormal(b) ? 0x1p24f : large;
  }
  [[gnu::always_inline]] static f32 dividend(f32 a, f32 b) {
    return flushed(flushed(a) * scale(b));
  }
  [[gnu::always_inline]] static u32 divisor(f32 b) { return std::bit_cast<u32>(b * scale(b)); }
  // The reciprocals of a warp's operands.
  [[gnu::always_inline]] static void reciprocals(const f32* b, u32 (&bits)[lanes]) {
    u32 divisors[lanes];
    for (int l = 0; l < lanes; ++l) divisors[l] = divisor(b[l]);
    unit::compute<unit::reciprocal>(divisors, bits);
  }
  [[gnu::always_inline]] static void compute(const f32* a, const f32* b, f32 (&results)[lanes]) {
    u32 bits[lanes];
    reciprocals(b, bits);
    for (int l = 0; l < lanes; ++l)
      results[l] = with_nan(flushed(dividend(a[l], b[l]) * std::bit_cast<f32>(bits[l])));
  }
};

// The 16-bit forms compute in f32 and truncate the result.
struct truncated_f16 {
  [[gnu::always_inline]] static u32 of(f32 v) {
    const u32 bits = std::bit_cast<u32>(v), magnitude = bits & ~unit::sign_bit;
    const u32 limited = magnitude < 0x38800000u ? magnitude : 0;
    const u32 small = static_cast<u32>(static_cast<s32>(std::bit_cast<f32>(limited) * 0x1p24f));
    u32 result = magnitude < 0x38800000u ? small : (magnitude - (112u << 23)) >> 13;
    result = magnitude >= 0x47800000u ? 0x7c00 : result;
    result |= (bits >> 16) & 0x8000;
    return magnitude > unit::infinite ? 0x7fff : result;
  }
};
struct truncated_bf16 {
  [[gnu::always_inline]] static u32 of(f32 v) { return std::bit_cast<u32>(v) >> 16; }
};

}  // namespace
}  // namespace stepwise::emulator
