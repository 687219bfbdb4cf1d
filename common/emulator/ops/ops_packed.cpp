// Integer operations that are compiled once for all instruction sets: pairs of 16 bits, dot
// products, byte patterns, clamping, and tests of floats.
//
// source  PTX ISA 9.0, "Integer Arithmetic Instructions", "prmt", "testp", "cvt.pack".
//         Tested by tests/opcodes/.
#include <algorithm>
#include <bit>
#include <cmath>

#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator {
namespace {

template <class T>
T low24(T v) {
  return std::is_signed_v<T> ? static_cast<T>(static_cast<u32>(v) << 8) >> 8 : v & 0xffffff;
}
// Bits 47..16 of the product of the low 24 bits.
template <class T>
T product24_high(T a, T b) {
  return static_cast<T>((static_cast<s64>(low24(a)) * static_cast<s64>(low24(b))) >> 16);
}
s32 saturated_sum(s32 a, s32 b) {
  const s64 sum = static_cast<s64>(a) + b;
  return sum > 0x7fffffffLL    ? 0x7fffffff
         : sum < -0x80000000LL ? -0x7fffffff - 1
                               : static_cast<s32>(sum);
}

void products24(op_table& t) {
  for_types<u32, s32>([&]<class T>() {
    const op_name type = "." + type_name<T>();
    add_op<T, T, T>(t, "mul24.hi" + type, [](T a, T b) { return product24_high(a, b); });
    add_op<T, T, T, T>(t, "mad24.lo" + type, [](T a, T b, T c) {
      return static_cast<T>(static_cast<u32>(low24(a)) * static_cast<u32>(low24(b)) +
                            static_cast<u32>(c));
    });
    add_op<T, T, T, T>(t, "mad24.hi" + type, [](T a, T b, T c) {
      return static_cast<T>(static_cast<u32>(product24_high(a, b)) + static_cast<u32>(c));
    });
  });
  add_op<s32, s32, s32, s32>(t, "mad24.hi.sat.s32", [](s32 a, s32 b, s32 c) {
    return saturated_sum(product24_high(a, b), c);
  });
}

// c plus the dot product of the two halves of a and the bytes First and First + 1 of b.
template <class A, class B, int First>
u32 dot_halves(u32 a, u32 b, u32 c) {
  for (int k = 0; k < 2; ++k) {
    const s32 p = static_cast<A>(a >> (16 * k)), q = static_cast<B>(b >> (8 * (First + k)));
    c += static_cast<u32>(p) * static_cast<u32>(q);
  }
  return c;
}

void dot_products(op_table& t) {
  for_types<u16, s16>([&]<class A>() {
    for_types<u8, s8>([&]<class B>() {
      const op_name type =
          op_name(std::is_signed_v<A> ? ".s32" : ".u32") + (std::is_signed_v<B> ? ".s32" : ".u32");
      add_op<u32, u32, u32, u32>(t, "dp2a.lo" + type,
                                 [](u32 a, u32 b, u32 c) { return dot_halves<A, B, 0>(a, b, c); });
      add_op<u32, u32, u32, u32>(t, "dp2a.hi" + type,
                                 [](u32 a, u32 b, u32 c) { return dot_halves<A, B, 2>(a, b, c); });
    });
  });
}

// Four bytes of b:a. The low two bits of c choose a pattern, whose hex digits select the bytes.
template <u32 Pattern0, u32 Pattern1, u32 Pattern2, u32 Pattern3>
u32 pattern_of_bytes(u32 a, u32 b, u32 c) {
  constexpr u32 patterns[] = {Pattern0, Pattern1, Pattern2, Pattern3};
  const u64 both = static_cast<u64>(b) << 32 | a;
  u32 result = 0;
  for (u32 k = 0; k < 4; ++k) {
    const u32 selector = (patterns[c & 3] >> (4 * k)) & 7;
    result |= (static_cast<u32>(both >> (8 * selector)) & 0xff) << (8 * k);
  }
  return result;
}

void byte_patterns(op_table& t) {
  const auto add = [&]<class Body>(const char* mode, Body body) {
    add_op<u32, u32, u32, u32>(t, op_name("prmt.b32.") + mode, body);
  };
  add("f4e", [](u32 a, u32 b, u32 c) {
    return pattern_of_bytes<0x3210, 0x4321, 0x5432, 0x6543>(a, b, c);
  });
  add("b4e", [](u32 a, u32 b, u32 c) {
    return pattern_of_bytes<0x5670, 0x6701, 0x7012, 0x0123>(a, b, c);
  });
  add("rc8", [](u32 a, u32 b, u32 c) {
    return pattern_of_bytes<0x0000, 0x1111, 0x2222, 0x3333>(a, b, c);
  });
  add("ecl", [](u32 a, u32 b, u32 c) {
    return pattern_of_bytes<0x3210, 0x3211, 0x3222, 0x3333>(a, b, c);
  });
  add("ecr", [](u32 a, u32 b, u32 c) {
    return pattern_of_bytes<0x0000, 0x1110, 0x2210, 0x3210>(a, b, c);
  });
  add("rc16", [](u32 a, u32 b, u32 c) {
    return pattern_of_bytes<0x1010, 0x3232, 0x1010, 0x3232>(a, b, c);
  });
}

// T is the type of a half.
template <class T, class Body>
u32 halves(u32 a, u32 b, Body body) {
  const u16 low = static_cast<u16>(body(static_cast<T>(a), static_cast<T>(b)));
  const u16 high = static_cast<u16>(body(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return low | static_cast<u32>(high) << 16;
}

void pairs(op_table& t) {
  for_types<u16, s16>([&]<class T>() {
    const op_name type = "." + type_name<T>() + "x2";
    add_op<u32, u32, u32>(t, "add" + type, [](u32 a, u32 b) {
      return halves<T>(a, b, [](T p, T q) { return p + q; });
    });
    add_op<u32, u32, u32>(t, "min" + type, [](u32 a, u32 b) {
      return halves<T>(a, b, [](T p, T q) { return p < q ? p : q; });
    });
    add_op<u32, u32, u32>(t, "max" + type, [](u32 a, u32 b) {
      return halves<T>(a, b, [](T p, T q) { return p < q ? q : p; });
    });
  });
  // nvcc writes the modifier after the type, the manual before it.
  for (const char* type : {".relu.s16x2", ".s16x2.relu"}) {
    add_op<u32, u32, u32>(t, op_name("min") + type, [](u32 a, u32 b) {
      return halves<s16>(a, b, [](s16 p, s16 q) { return std::max<s16>(p < q ? p : q, 0); });
    });
    add_op<u32, u32, u32>(t, op_name("max") + type, [](u32 a, u32 b) {
      return halves<s16>(a, b, [](s16 p, s16 q) { return std::max<s16>(p < q ? q : p, 0); });
    });
  }
  for (const char* type : {".relu.s32", ".s32.relu"}) {
    add_op<s32, s32, s32>(t, op_name("min") + type,
                          [](s32 a, s32 b) { return std::max(a < b ? a : b, 0); });
    add_op<s32, s32, s32>(t, op_name("max") + type,
                          [](s32 a, s32 b) { return std::max(a < b ? b : a, 0); });
  }
}

// The position of the n-th set bit of `mask`, counted from bit `base` upwards (n > 0) or downwards.
u32 find_nth_set(u32 mask, u32 base, s32 n) {
  const int step = n < 0 ? -1 : 1;
  s64 missing = n < 0 ? -static_cast<s64>(n) : n;
  if (n == 0) return base < 32 && ((mask >> base) & 1) ? base : 0xffffffffu;
  for (int at = base < 32 ? static_cast<int>(base) : -1; at >= 0 && at < 32; at += step)
    if (((mask >> at) & 1) && --missing == 0) return static_cast<u32>(at);
  return 0xffffffffu;
}

// Extends the low b bits of a: with bit b - 1 if T is signed, else with zeros.
template <class T, bool Wraps>
T extend_sign(T a, u32 b) {
  if (Wraps) b &= 31;
  if (b >= 32) return a;
  if (b == 0) return 0;
  const u32 moved = static_cast<u32>(a) << (32 - b);
  return std::is_signed_v<T> ? static_cast<T>(static_cast<s32>(moved) >> (32 - b))
                             : static_cast<T>(moved >> (32 - b));
}

void bits(op_table& t) {
  add_op<u32, u32, u32, s32>(t, "fns.b32",
                             [](u32 a, u32 b, s32 c) { return find_nth_set(a, b, c); });
  add_op<u32, u32, u32>(t, "bmsk.wrap.b32",
                        [](u32 a, u32 b) { return ((1u << (b & 31)) - 1) << (a & 31); });
  for_types<u32, s32>([&]<class T>() {
    add_op<T, T, u32>(t, "szext.wrap." + type_name<T>(),
                      [](T a, u32 b) { return extend_sign<T, true>(a, b); });
    add_op<T, T, u32>(t, "szext.clamp." + type_name<T>(),
                      [](T a, u32 b) { return extend_sign<T, false>(a, b); });
  });
}

template <int Bits, bool Signed>
u32 clamped(s32 v) {
  constexpr s32 least = Signed ? -(1 << (Bits - 1)) : 0;
  constexpr s32 most = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  return static_cast<u32>(v < least ? least : v > most ? most : v) & ((1u << Bits) - 1);
}

template <int Bits, bool Signed>
void pack_ops(op_table& t) {
  constexpr const char* bits = Bits == 16 ? "16" : Bits == 8 ? "8" : Bits == 4 ? "4" : "2";
  const op_name name = op_name("cvt.pack.sat.") + (Signed ? "s" : "u") + bits + ".s32";
  if constexpr (Bits == 16) {
    add_op<u32, s32, s32>(t, name, [](s32 a, s32 b) {
      return clamped<Bits, Signed>(a) << 16 | clamped<Bits, Signed>(b);
    });
  } else {
    add_op<u32, s32, s32, u32>(t, name + ".b32", [](s32 a, s32 b, u32 c) {
      return c << (2 * Bits) | clamped<Bits, Signed>(a) << Bits | clamped<Bits, Signed>(b);
    });
  }
}

template <class Body, class T>
const op* test(context& x, const op* i) {
  const T* a = x.vreg<T>(i->a);
  u32 value = 0;
  for (int l = 0; l < lanes; ++l) value |= static_cast<u32>(Body{}(a[l])) << l;
  u32& p = x.predicate(i->d);
  p = (p & ~x.active) | (value & x.active);
  return i + 1;
}

template <class T>
void float_tests(op_table& t) {
  const auto add = [&]<class Body>(const char* what, Body) {
    add_op(t, op_name("testp.") + what + "." + type_name<T>(), &test<Body, T>,
           value_class::predicate, class_of<T>(), value_class::none, value_class::none);
  };
  add("finite", [](T a) { return std::isfinite(a); });
  add("infinite", [](T a) { return std::isinf(a); });
  add("number", [](T a) { return a == a; });
  add("notanumber", [](T a) { return a != a; });
  // Zero counts as normal, as on an H200.
  add("normal", [](T a) { return a == 0 || std::isnormal(a); });
  add("subnormal", [](T a) { return std::fpclassify(a) == FP_SUBNORMAL; });
}

// min and max of f32 where a NaN wins, or where the magnitudes are compared and the signs combined.
template <bool Least, bool NanWins, bool XorSign>
f32 choose(f32 a, f32 b) {
  const u32 sign = (std::bit_cast<u32>(a) ^ std::bit_cast<u32>(b)) & 0x80000000u;
  if (XorSign) {
    a = std::fabs(a);
    b = std::fabs(b);
  }
  const bool a_nan = a != a, b_nan = b != b;
  if ((a_nan && b_nan) || (NanWins && (a_nan || b_nan))) return std::bit_cast<f32>(0x7fffffffu);
  const bool a_below = a < b || (a == b && std::signbit(a));
  const f32 chosen = a_nan ? b : b_nan ? a : a_below == Least ? a : b;
  return XorSign ? std::bit_cast<f32>(std::bit_cast<u32>(std::fabs(chosen)) | sign) : chosen;
}

void extremes(op_table& t) {
  const auto add = [&]<class Body>(const char* name, Body body) {
    add_op<f32, f32, f32>(t, name, body);
  };
  add("min.NaN.f32", [](f32 a, f32 b) { return choose<true, true, false>(a, b); });
  add("max.NaN.f32", [](f32 a, f32 b) { return choose<false, true, false>(a, b); });
  add("min.xorsign.abs.f32", [](f32 a, f32 b) { return choose<true, false, true>(a, b); });
  add("max.xorsign.abs.f32", [](f32 a, f32 b) { return choose<false, false, true>(a, b); });
  add("min.NaN.xorsign.abs.f32", [](f32 a, f32 b) { return choose<true, true, true>(a, b); });
  add("max.NaN.xorsign.abs.f32", [](f32 a, f32 b) { return choose<false, true, true>(a, b); });
}

}  // namespace

void packed_ops(op_table& t) {
  products24(t);
  dot_products(t);
  byte_patterns(t);
  pairs(t);
  bits(t);
  pack_ops<16, false>(t);
  pack_ops<16, true>(t);
  pack_ops<8, false>(t);
  pack_ops<8, true>(t);
  pack_ops<4, false>(t);
  pack_ops<4, true>(t);
  pack_ops<2, false>(t);
  pack_ops<2, true>(t);
  float_tests<f32>(t);
  float_tests<f64>(t);
  extremes(t);
}

}  // namespace stepwise::emulator
