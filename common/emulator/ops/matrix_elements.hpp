// The elements of matrices: conversions, the fragments of a warp's registers, and sums of products.
// Shared by the products of warps (ops_matrix.cpp) and of warpgroups (ops_warpgroup.cpp).
#pragma once

#include <bit>
#include <cstring>

#include "common/emulator/machine/matrix.hpp"
#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator {
namespace {

// --- elements ----------------------------------------------------------------------------------

// The conversions are plain arithmetic, so that the compiler vectorises the loops around them.

// `magnitude` holds the bits of a float narrower than f32, without its sign, moved to the place of
// an f32's exponent and fraction. Its exponent bias is smaller than that of f32 by `Bias`. An
// exponent of all ones is infinity or NaN.
template <u32 Bias, u32 ExponentBits>
[[gnu::always_inline]] inline f32 widened(u32 magnitude, u32 sign) {
  constexpr u32 special = ((1u << ExponentBits) - 1) << 23;
  const u32 scaled =
      std::bit_cast<u32>(std::bit_cast<f32>(magnitude) * std::bit_cast<f32>((127 + Bias) << 23));
  return std::bit_cast<f32>((magnitude >= special ? magnitude | 0x7f800000u : scaled) | sign);
}
[[gnu::always_inline]] inline f32 from_f16(u32 bits) {
  return widened<112, 5>((bits & 0x7fff) << 13, (bits & 0x8000) << 16);
}
// 4 bits of exponent with bias 7, no infinity, NaN is all ones.
[[gnu::always_inline]] inline f32 from_e4m3(u32 bits) {
  const u32 magnitude = bits & 0x7f;
  const f32 value = std::bit_cast<f32>(magnitude << 20) * 0x1p120f;
  const u32 known = magnitude == 0x7f ? 0x7fffffffu : std::bit_cast<u32>(value);
  return std::bit_cast<f32>(known | (bits & 0x80) << 24);
}

// Calls use(function that converts an element's bits).
template <class Use>
void with_float_of(matrix_type type, Use use) {
  switch (type) {
    case matrix_type::f16:
      return use([](u32 bits) { return from_f16(bits); });
    case matrix_type::bf16:
      return use([](u32 bits) { return std::bit_cast<f32>(bits << 16); });
    case matrix_type::tf32:  // ignores the low bits
      return use([](u32 bits) { return std::bit_cast<f32>(bits & 0xffffe000u); });
    case matrix_type::e4m3:
      return use([](u32 bits) { return from_e4m3(bits); });
    case matrix_type::e5m2:  // an f16 without its low byte
      return use([](u32 bits) { return from_f16(bits << 8); });
    default:
      return use([](u32 bits) { return std::bit_cast<f32>(bits); });
  }
}
template <class Use>
void with_integer_of(matrix_type type, Use use) {
  switch (type) {
    case matrix_type::s8:
      return use([](u32 bits) { return static_cast<s32>(bits << 24) >> 24; });
    case matrix_type::s4:
      return use([](u32 bits) { return static_cast<s32>(bits << 28) >> 28; });
    default:
      return use([](u32 bits) { return static_cast<s32>(bits); });
  }
}

// A float sum as it is stored: every NaN has the same bits.
[[gnu::always_inline]] inline u32 bits_of_sum(f32 value) {
  return value != value ? 0x7fffffffu : std::bit_cast<u32>(value);
}
// An integer sum, clamped or wrapped.
[[gnu::always_inline]] inline s32 sum_of(s32 a, s32 b, bool saturates) {
  const s64 exact = s64{a} + b;
  return !saturates          ? static_cast<s32>(exact)
         : exact > INT32_MAX ? INT32_MAX
         : exact < INT32_MIN ? INT32_MIN
                             : static_cast<s32>(exact);
}

// Spreads a fragment out: to[row * cols + col] = value_of(bits of the element). With `transposed`,
// to[col * rows + row].
template <class T, class Value>
void spread(context& x, const matrix_fragment& from, T* to, Value value_of,
            bool transposed = false) {
  const matrix_layout& where = *from.layout;
  const u16* place = (transposed ? where.transposed : where.places).data();
  const u32 mask = where.bits == 32 ? ~0u : (1u << where.bits) - 1;
  for (u32 r = 0; r < where.registers; ++r) {
    const u32* words = x.vreg<u32>(from.vregs[r]);
    for (u32 e = 0; e < where.packed; ++e, place += lanes) {
      T values[lanes];
      for (int l = 0; l < lanes; ++l) values[l] = value_of((words[l] >> (e * where.bits)) & mask);
      for (int l = 0; l < lanes; ++l) to[place[l]] = values[l];
    }
  }
}

// The inverse of spread(). bits_of_value returns an element's bits. Excess registers repeat the
// matrix.
template <class T, class Bits>
void gather(context& x, const matrix_fragment& to, const T* from, Bits bits_of_value,
            bool transposed = false) {
  const matrix_layout& where = *to.layout;
  const u16* const places = (transposed ? where.transposed : where.places).data();
  for (u32 r = 0; r < to.count; ++r) {
    const u16* place = places + r % where.registers * where.packed * lanes;
    u32 words[lanes] = {};
    for (u32 e = 0; e < where.packed; ++e, place += lanes)
      for (int l = 0; l < lanes; ++l) words[l] |= bits_of_value(from[place[l]]) << (e * where.bits);
    std::memcpy(x.vreg<u32>(to.vregs[r]), words, sizeof words);
  }
}

// --- products ----------------------------------------------------------------------------------

// c += a * b, summed in the order of k, for a of m x k, b of k x n and c of m x n elements, all
// stored by rows. m and n are multiples of 8. Eight rows at a time keep
// dependent additions apart. Without explicit vectors the compiler would vectorise along k.
template <class T>
void accumulate_products(const matrix_shape& f, const T* a, const T* b, T* c) {
  constexpr u32 high = 8, wide = 8;
  using vector [[gnu::vector_size(wide * sizeof(T))]] = T;
  for (u32 row = 0; row < f.m; row += high) {
    for (u32 col = 0; col < f.n; col += wide) {
      vector sums[high];
      for (u32 i = 0; i < high; ++i)
        std::memcpy(&sums[i], c + (row + i) * f.n + col, sizeof(vector));
      for (u32 p = 0; p < f.k; ++p) {
        vector right;
        std::memcpy(&right, b + p * f.n + col, sizeof right);
        for (u32 i = 0; i < high; ++i) sums[i] += right * a[(row + i) * f.k + p];
      }
      for (u32 i = 0; i < high; ++i)
        std::memcpy(c + (row + i) * f.n + col, &sums[i], sizeof(vector));
    }
  }
}

// The general form: c = add(c, a, b), in the order of k.
template <class T, class Add>
void accumulate(const matrix_shape& f, const T* a, const T* b, T* c, Add add) {
  for (u32 row = 0; row < f.m; ++row)
    for (u32 p = 0; p < f.k; ++p)
      for (u32 col = 0; col < f.n; ++col)
        c[row * f.n + col] = add(c[row * f.n + col], a[row * f.k + p], b[p * f.n + col]);
}

}  // namespace
}  // namespace stepwise::emulator
