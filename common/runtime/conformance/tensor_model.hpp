// The sum that Hopper's tensor cores compute, in integers, for comparison: of exact products and an
// addend, aligned to the largest exponent and truncated. Found by experiments on an H200.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

// A value as the hardware takes it: significand * 2^exponent. The significand is an integer of
// `bits` + 1 bits if the value is normal.
struct tensor_value {
  std::int64_t significand;
  int exponent;  // of the leading bit of a normal value
  int bits;      // after the leading bit
};

inline tensor_value split_value(float value, int bits) {
  int exponent;
  const float fraction = std::frexp(value, &exponent);  // 0.5 to 1
  return {static_cast<std::int64_t>(std::ldexp(fraction, bits + 1)), exponent - 1, bits};
}

// c + the sum of a[k] b[k], of values with `bits` bits after the leading bit. The terms are
// truncated `fraction_bits` below the largest exponent, and the sum to `kept` bits after its
// leading bit.
inline float tensor_sum(const std::vector<float>& a, const std::vector<float>& b, float c, int bits,
                        int fraction_bits, int kept) {
  std::vector<tensor_value> terms;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] == 0 || b[k] == 0) continue;
    const tensor_value x = split_value(a[k], bits), y = split_value(b[k], bits);
    terms.push_back({x.significand * y.significand, x.exponent + y.exponent, 2 * bits});
  }
  if (c != 0) terms.push_back(split_value(c, 23));
  if (terms.empty()) return 0;
  int top = terms[0].exponent;
  for (const tensor_value& t : terms) top = std::max(top, t.exponent);
  std::int64_t sum = 0;  // in units of 2^(top - fraction_bits)
  for (const tensor_value& t : terms) {
    const int left = t.exponent - t.bits - (top - fraction_bits);
    const std::int64_t size = std::abs(t.significand);
    const std::int64_t kept_part = left >= 0 ? size << left : left > -63 ? size >> -left : 0;
    sum += t.significand < 0 ? -kept_part : kept_part;
  }
  std::int64_t size = std::abs(sum);
  int dropped = 0;
  while (size >> dropped >= std::int64_t{2} << kept) ++dropped;
  size = size >> dropped << dropped;
  return std::ldexp(static_cast<float>(sum < 0 ? -size : size), top - fraction_bits);
}

// Random values whose exponents differ by up to 2 `spread`.
class random_values {
 public:
  explicit random_values(unsigned seed) : next_(seed) {}
  float one(int spread) {
    const float size = 1 + static_cast<float>(next_() % (1u << 23)) / (1u << 23);
    const int exponent = static_cast<int>(next_() % (2 * spread + 1)) - spread;
    return std::ldexp(next_() % 2 == 0 ? size : -size, exponent);
  }

 private:
  std::mt19937 next_;
};

// A format of elements of A and B.
struct number_format {
  int k;                      // elements along k in one instruction
  int bits, fraction;         // of an element, and after its leading bit
  unsigned (*encode)(float);  // the bits of a value
  float (*decode)(unsigned);
};

inline unsigned bits_of(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline unsigned to_bf16(float x) { return bits_of(x) >> 16; }
inline float from_bf16(unsigned bits) { return float_of(bits << 16); }
inline unsigned to_f16(float x) { return __half_as_ushort(__float2half(x)); }
inline float from_f16(unsigned bits) { return __half2float(__ushort_as_half(bits)); }
inline unsigned to_tf32(float x) { return bits_of(x) & 0xffffe000u; }
inline unsigned to_e4m3(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }
inline float from_e4m3(unsigned bits) {
  return from_f16(__half_raw(__nv_cvt_fp8_to_halfraw(bits, __NV_E4M3)).x);
}
inline unsigned to_e5m2(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); }
inline float from_e5m2(unsigned bits) { return from_f16(bits << 8); }

inline number_format bf16_values(int k) { return {k, 16, 7, to_bf16, from_bf16}; }
inline number_format f16_values(int k) { return {k, 16, 10, to_f16, from_f16}; }
inline number_format tf32_values(int k) { return {k, 32, 10, to_tf32, float_of}; }
inline number_format e4m3_values(int k) { return {k, 8, 3, to_e4m3, from_e4m3}; }
inline number_format e5m2_values(int k) { return {k, 8, 2, to_e5m2, from_e5m2}; }
