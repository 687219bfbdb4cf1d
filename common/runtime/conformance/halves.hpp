// f16 and bf16 on the host, straight from the definition: a binary search without bit tricks.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

struct half_format {
  int exponent_bits, mantissa_bits;

  std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  }
  bool is_nan(std::uint16_t bits) const { return (bits & 0x7fff) > infinity(); }

  double value(std::uint16_t bits) const {
    const int field = (bits & 0x7fff) >> mantissa_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const int fraction = bits & ((1 << mantissa_bits) - 1);
    double v = field == 0
                   ? std::ldexp(fraction, 1 - bias - mantissa_bits)
                   : std::ldexp(fraction + (1 << mantissa_bits), field - bias - mantissa_bits);
    if ((bits & 0x7fff) == infinity()) v = std::numeric_limits<double>::infinity();
    if (is_nan(bits)) v = std::numeric_limits<double>::quiet_NaN();
    return bits & 0x8000 ? -v : v;
  }

  // The number nearest to v + rest, with ties to even. `rest` only decides ties, because it is far
  // smaller than the distance between v and its neighbours. 0x7fff for NaN.
  std::uint16_t nearest(double v, double rest = 0) const {
    if (std::isnan(v)) return 0x7fff;
    const std::uint16_t sign = std::signbit(v) ? 0x8000 : 0;
    const double magnitude = std::fabs(v);
    if (sign != 0) rest = -rest;
    std::uint16_t low = below(magnitude);
    if (low == infinity()) return sign | low;
    const double next = low + 1 == infinity() ? 2 * value(low) - value(low - 1) : value(low + 1);
    const double down = magnitude - value(low), up = next - magnitude;
    const bool tie = down == up;
    if (down > up || (tie && (rest > 0 || (rest == 0 && (low & 1) != 0)))) ++low;
    return sign | low;
  }

  // The greatest number that is not greater than `magnitude`.
  std::uint16_t below(double magnitude) const {
    std::uint16_t low = 0, high = infinity();
    if (std::isinf(magnitude)) return high;
    while (high - low > 1) {
      const std::uint16_t middle = static_cast<std::uint16_t>((low + high) / 2);
      (value(middle) <= magnitude ? low : high) = middle;
    }
    return low;
  }

  // a * b + c, rounded once. In double, the product and the error of the sum are exact.
  std::uint16_t fused(double a, double b, double c) const {
    const double p = a * b, s = p + c, part = s - p;
    const double rest = (p - (s - part)) + (c - part);
    return nearest(s, std::isfinite(rest) ? rest : 0);
  }
};

inline constexpr half_format f16_format{5, 10}, bf16_format{8, 7};

// Combinations of operands: special values, then random values with close exponents.
struct half_operands {
  std::vector<std::uint16_t> a, b, c;

  half_operands(const half_format& f, int count) {
    const std::uint16_t one =
        static_cast<std::uint16_t>(f.infinity() / 2 & ~((1 << f.mantissa_bits) - 1));
    const std::uint16_t inf = f.infinity();
    const std::uint16_t special[] = {0,
                                     1,
                                     one,
                                     static_cast<std::uint16_t>(one + 1),
                                     static_cast<std::uint16_t>(inf - 1),
                                     inf,
                                     0x7fff,
                                     static_cast<std::uint16_t>(1 << f.mantissa_bits)};
    for (const std::uint16_t p : special)
      for (const std::uint16_t q : special)
        for (const int signs : {0, 1, 2, 3}) {
          a.push_back(p | (signs & 1 ? 0x8000 : 0));
          b.push_back(q | (signs & 2 ? 0x8000 : 0));
          c.push_back(special[(a.size() * 5) % 8]);
        }
    std::uint32_t state = 12345;
    const auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
    while (static_cast<int>(a.size()) < count) {
      const std::uint16_t x = random() & 0xffff, y = random() & 0xffff;
      a.push_back(x);
      b.push_back(y);
      const std::uint16_t product = f.nearest(f.value(x) * f.value(y));
      c.push_back(static_cast<std::uint16_t>((product ^ 0x8000) + random() % 64));
    }
  }
};
