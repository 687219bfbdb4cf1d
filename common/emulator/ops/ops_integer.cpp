// Integer and bit operations.
//
// source  PTX ISA 9.0, "Integer Arithmetic Instructions", "Logic and Shift Instructions".
//         Tested by tests/opcodes/.
#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

template <class T>
using unsigned_of = std::make_unsigned_t<T>;
template <class T>
using wide_of = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, s32, u32>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, s64, u64>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

template <class T>
T multiply_high(T a, T b) {
  return static_cast<T>((static_cast<wide_of<T>>(a) * static_cast<wide_of<T>>(b)) >>
                        (8 * sizeof(T)));
}

template <class T>
T saturate_sum(s64 sum) {
  return sum > 0x7fffffffLL    ? 0x7fffffff
         : sum < -0x80000000LL ? -0x7fffffff - 1
                               : static_cast<T>(sum);
}

// The quotient of 32-bit integers in double precision, which vectorises. An inexact quotient is at
// least 1 / b away from every integer, so rounding to double does not cross one.
template <class T>
[[gnu::always_inline]] inline T quotient_of(T a, T b) {
  const f64 quotient = static_cast<f64>(a) / static_cast<f64>(b != 0 ? b : 1);
  return static_cast<T>(static_cast<s64>(quotient));
}

// Division by zero sets all bits of the quotient or remainder, as on an H200.
template <class T>
[[gnu::always_inline]] inline T divide(T a, T b) {
  if constexpr (sizeof(T) == 4) return b == 0 ? static_cast<T>(-1) : quotient_of(a, b);
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(-static_cast<unsigned_of<T>>(a));
  }
  return static_cast<T>(a / b);
}

template <class T>
[[gnu::always_inline]] inline T remainder(T a, T b) {
  if constexpr (sizeof(T) == 4)
    return b == 0 ? static_cast<T>(-1)
                  : static_cast<T>(static_cast<u32>(a) -
                                   static_cast<u32>(quotient_of(a, b)) * static_cast<u32>(b));
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

// Only 32-bit divisions are vectorised; otherwise inactive lanes would cost as much as others.
template <class Body, class T>
const op* one_by_one(context& x, const op* i) {
  T* d = x.vreg<T>(i->d);
  const T* a = x.vreg<T>(i->a);
  const T* b = x.vreg<T>(i->b);
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    d[l] = Body{}(a[l], b[l]);
  }
  return i + 1;
}
template <class T, class Body>
void quotient_op(op_table& t, const op_name& name, Body body) {
  constexpr value_class k = class_of<T>();
  if constexpr (sizeof(T) == 4)
    add_op<T, T, T>(t, name, body);
  else
    add_op(t, name, &one_by_one<Body, T>, k, k, k, value_class::none);
}

template <class T>
u32 leading_zeros(T a) {
  if (a == 0) return 8 * sizeof(T);
  return sizeof(T) == 8 ? __builtin_clzll(a) : __builtin_clz(static_cast<u32>(a));
}

u32 reverse_bits(u32 v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(v);
}

u64 reverse_bits64(u64 v) {
  return (static_cast<u64>(reverse_bits(static_cast<u32>(v))) << 32) |
         reverse_bits(static_cast<u32>(v >> 32));
}

// Position of the highest bit that differs from the sign, counted from bit 0; all ones if none.
template <class T>
u32 find_bit(T a) {
  unsigned_of<T> v = static_cast<unsigned_of<T>>(a);
  if constexpr (std::is_signed_v<T>) {
    if (a < 0) v = static_cast<unsigned_of<T>>(~v);
  }
  return v == 0 ? 0xffffffffu : 8 * sizeof(T) - 1 - leading_zeros(v);
}
template <class T>
u32 find_bit_shift(T a) {
  const u32 position = find_bit(a);
  return position == 0xffffffffu ? position : 8 * sizeof(T) - 1 - position;
}

template <class T>
T extract_field(T a, u32 b, u32 c) {
  // Only 8 bits of the position count, but all of them in 64-bit code, as on an H200.
  const u32 bits = 8 * sizeof(T), position = sizeof(T) == 8 ? b : b & 0xff, length = c & 0xff;
  if (length == 0) return 0;
  bool sign = false;
  if constexpr (std::is_signed_v<T>) {
    const u64 end = u64{position} + length - 1;
    const u32 top = end < bits - 1 ? static_cast<u32>(end) : bits - 1;
    sign = (static_cast<unsigned_of<T>>(a) >> top) & 1;
  }
  unsigned_of<T> value = position < bits ? static_cast<unsigned_of<T>>(a) >> position : 0;
  const u32 present = position < bits ? bits - position : 0;  // bits of `value` that come from a
  const u32 keep = length < present ? length : present;
  if (keep < bits) {
    const unsigned_of<T> low = (unsigned_of<T>{1} << keep) - 1;
    value = sign ? (value & low) | ~low : value & low;
  }
  return static_cast<T>(value);
}

u32 dot_bytes(u32 a, u32 b, u32 c, bool a_signed, bool b_signed) {
  for (int k = 0; k < 4; ++k) {
    const s32 p = a_signed ? static_cast<s8>(a >> (8 * k)) : static_cast<u8>(a >> (8 * k));
    const s32 q = b_signed ? static_cast<s8>(b >> (8 * k)) : static_cast<u8>(b >> (8 * k));
    c += static_cast<u32>(p * q);
  }
  return c;
}

// Byte `selector` of the eight bytes of b:a; selector bit 3 replicates the byte's sign.
u32 permute_byte(u32 a, u32 b, u32 selector) {
  const u64 both = (static_cast<u64>(b) << 32) | a;
  const u32 byte = static_cast<u32>(both >> (8 * (selector & 7))) & 0xff;
  return selector & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte;
}

void arithmetic(op_table& t) {
  for_types<u16, s16, u32, s32, u64, s64>([&]<class T>() {
    const op_name type = type_name<T>();
    add_op<T, T, T>(t, "add." + type, [](T a, T b) { return static_cast<T>(a + b); });
    add_op<T, T, T>(t, "sub." + type, [](T a, T b) { return static_cast<T>(a - b); });
    add_op<T, T, T>(t, "mul.lo." + type, [](T a, T b) {
      return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
    });
    add_op<T, T, T>(t, "mul.hi." + type, [](T a, T b) { return multiply_high(a, b); });
    add_op<T, T, T, T>(t, "mad.lo." + type, [](T a, T b, T c) {
      return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b) + static_cast<u64>(c));
    });
    add_op<T, T, T, T>(t, "mad.hi." + type,
                       [](T a, T b, T c) { return static_cast<T>(multiply_high(a, b) + c); });
    quotient_op<T>(t, "div." + type, [](T a, T b) { return divide(a, b); });
    quotient_op<T>(t, "rem." + type, [](T a, T b) { return remainder(a, b); });
    add_op<T, T, T>(t, "min." + type, [](T a, T b) { return a < b ? a : b; });
    add_op<T, T, T>(t, "max." + type, [](T a, T b) { return a < b ? b : a; });
    add_op<T, T, T, T>(t, "sad." + type, [](T a, T b, T c) {
      return static_cast<T>(
          static_cast<unsigned_of<T>>(c) +
          (a < b ? static_cast<unsigned_of<T>>(b) - static_cast<unsigned_of<T>>(a)
                 : static_cast<unsigned_of<T>>(a) - static_cast<unsigned_of<T>>(b)));
    });
    if constexpr (std::is_signed_v<T>) {
      add_op<T, T>(t, "abs." + type, [](T a) {
        return static_cast<T>(a < 0 ? -static_cast<unsigned_of<T>>(a)
                                    : static_cast<unsigned_of<T>>(a));
      });
      add_op<T, T>(t, "neg." + type,
                   [](T a) { return static_cast<T>(-static_cast<unsigned_of<T>>(a)); });
    }
  });
  for_types<u16, s16, u32, s32>([&]<class T>() {
    using W = wide_of<T>;
    add_op<W, T, T>(t, "mul.wide." + type_name<T>(),
                    [](T a, T b) { return static_cast<W>(static_cast<W>(a) * static_cast<W>(b)); });
    add_op<W, T, T, W>(t, "mad.wide." + type_name<T>(), [](T a, T b, W c) {
      return static_cast<W>(static_cast<W>(a) * static_cast<W>(b) + c);
    });
  });
  add_op<s32, s32, s32>(t, "add.sat.s32",
                        [](s32 a, s32 b) { return saturate_sum<s32>(static_cast<s64>(a) + b); });
  add_op<s32, s32, s32>(t, "sub.sat.s32",
                        [](s32 a, s32 b) { return saturate_sum<s32>(static_cast<s64>(a) - b); });
  add_op<s32, s32, s32, s32>(t, "mad.hi.sat.s32", [](s32 a, s32 b, s32 c) {
    return saturate_sum<s32>(static_cast<s64>(multiply_high(a, b)) + c);
  });
  add_op<u32, u32, u32>(t, "mul24.lo.u32",
                        [](u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); });
  add_op<s32, s32, s32>(t, "mul24.lo.s32",
                        [](s32 a, s32 b) { return ((a << 8) >> 8) * ((b << 8) >> 8); });
  add_op<u32, u32, u32, u32>(t, "dp4a.u32.u32",
                             [](u32 a, u32 b, u32 c) { return dot_bytes(a, b, c, false, false); });
  add_op<u32, u32, u32, u32>(t, "dp4a.s32.s32",
                             [](u32 a, u32 b, u32 c) { return dot_bytes(a, b, c, true, true); });
  add_op<u32, u32, u32, u32>(t, "dp4a.u32.s32",
                             [](u32 a, u32 b, u32 c) { return dot_bytes(a, b, c, false, true); });
  add_op<u32, u32, u32, u32>(t, "dp4a.s32.u32",
                             [](u32 a, u32 b, u32 c) { return dot_bytes(a, b, c, true, false); });
}

void logic(op_table& t) {
  for_types<u16, u32, u64>([&]<class T>() {
    const op_name bits = "b" + bits_name<T>();
    add_op<T, T>(t, "mov." + bits, [](T a) { return a; });
    add_op<T, T>(t, "not." + bits, [](T a) { return static_cast<T>(~a); });
    add_op<T, T>(t, "cnot." + bits, [](T a) { return static_cast<T>(a == 0); });
    add_op<T, T, T>(t, "and." + bits, [](T a, T b) { return static_cast<T>(a & b); });
    add_op<T, T, T>(t, "or." + bits, [](T a, T b) { return static_cast<T>(a | b); });
    add_op<T, T, T>(t, "xor." + bits, [](T a, T b) { return static_cast<T>(a ^ b); });
    // Shift amounts are 32 bits wide and clamp at the width of the value.
    add_op<T, T, u32>(t, "shl." + bits,
                      [](T a, u32 n) { return n < 8 * sizeof(T) ? static_cast<T>(a << n) : T{0}; });
    add_op<T, T, u32>(t, "shr." + bits,
                      [](T a, u32 n) { return n < 8 * sizeof(T) ? static_cast<T>(a >> n) : T{0}; });
    add_op<T, T, u32>(t, "shr.u" + bits_name<T>(),
                      [](T a, u32 n) { return n < 8 * sizeof(T) ? static_cast<T>(a >> n) : T{0}; });
    using S = std::make_signed_t<T>;
    add_op<S, S, u32>(t, "shr.s" + bits_name<T>(), [](S a, u32 n) {
      return static_cast<S>(a >> (n < 8 * sizeof(T) ? n : 8 * sizeof(T) - 1));
    });
  });
  add_op<u32, u32, u32, u32>(t, "shf.l.wrap.b32", [](u32 a, u32 b, u32 c) {
    const u32 n = c & 31;
    return static_cast<u32>(((static_cast<u64>(b) << 32 | a) << n) >> 32);
  });
  add_op<u32, u32, u32, u32>(t, "shf.r.wrap.b32", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>((static_cast<u64>(b) << 32 | a) >> (c & 31));
  });
  add_op<u32, u32, u32, u32>(t, "shf.l.clamp.b32", [](u32 a, u32 b, u32 c) {
    const u32 n = c < 32 ? c : 32;
    return n == 32 ? a : static_cast<u32>(((static_cast<u64>(b) << 32 | a) << n) >> 32);
  });
  add_op<u32, u32, u32, u32>(t, "shf.r.clamp.b32", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>((static_cast<u64>(b) << 32 | a) >> (c < 32 ? c : 32));
  });
}

void bit_fields(op_table& t) {
  add_op<u32, u32>(t, "popc.b32", [](u32 a) { return static_cast<u32>(__builtin_popcount(a)); });
  add_op<u32, u64>(t, "popc.b64", [](u64 a) { return static_cast<u32>(__builtin_popcountll(a)); });
  add_op<u32, u32>(t, "clz.b32", [](u32 a) { return leading_zeros(a); });
  add_op<u32, u64>(t, "clz.b64", [](u64 a) { return leading_zeros(a); });
  add_op<u32, u32>(t, "brev.b32", [](u32 a) { return reverse_bits(a); });
  add_op<u64, u64>(t, "brev.b64", [](u64 a) { return reverse_bits64(a); });
  for_types<u32, s32, u64, s64>([&]<class T>() {
    add_op<u32, T>(t, "bfind." + type_name<T>(), [](T a) { return find_bit(a); });
    add_op<u32, T>(t, "bfind.shiftamt." + type_name<T>(), [](T a) { return find_bit_shift(a); });
    add_op<T, T, u32, u32>(t, "bfe." + type_name<T>(),
                           [](T a, u32 b, u32 c) { return extract_field(a, b, c); });
  });
  add_op<u32, u32, u32, u32>(t, "prmt.b32", [](u32 a, u32 b, u32 c) {
    return permute_byte(a, b, c) | permute_byte(a, b, c >> 4) << 8 |
           permute_byte(a, b, c >> 8) << 16 | permute_byte(a, b, c >> 12) << 24;
  });
  add_op<u32, u32, u32>(t, "bmsk.clamp.b32", [](u32 a, u32 b) {
    if (a > 31 || b == 0) return 0u;
    const u64 ones = b > 31 ? 0xffffffffull : (1ull << b) - 1;
    return static_cast<u32>(ones << a);
  });
}

// Four-operand forms keep their fourth operand's register in op::slot.
template <class T>
const op* insert_field(context& x, const op* i) {
  T* d = x.vreg<T>(i->d);
  const T* a = x.vreg<T>(i->a);
  const T* b = x.vreg<T>(i->b);
  const u32* c = x.vreg<u32>(i->c);
  const u32* e = x.vreg<u32>(i->slot);
  for (int l = 0; l < lanes; ++l) {
    if (!lane_in(x.active, l)) continue;
    const u32 bits = 8 * sizeof(T), length = e[l] & 0xff;
    const u32 position = sizeof(T) == 8 ? c[l] : c[l] & 0xff;  // as in extract_field
    if (length == 0 || position >= bits) {
      d[l] = b[l];
      continue;
    }
    const T field = length >= bits ? static_cast<T>(-1) : static_cast<T>((T{1} << length) - 1);
    const T at = static_cast<T>(field << position);
    d[l] = static_cast<T>((b[l] & ~at) | ((a[l] << position) & at));
  }
  return i + 1;
}

// lop3: bit k of the table in op::immediate is the result for (a, b, c) = the bits of k, a highest.
const op* lookup_logic(context& x, const op* i) {
  u32* d = x.vreg<u32>(i->d);
  const u32* a = x.vreg<u32>(i->a);
  const u32* b = x.vreg<u32>(i->b);
  const u32* c = x.vreg<u32>(i->c);
  for (int l = 0; l < lanes; ++l) {
    u32 value = 0;
    for (u32 k = 0; k < 8; ++k) {
      if (!((i->immediate >> k) & 1)) continue;
      value |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
    }
    if (lane_in(x.active, l)) d[l] = value;
  }
  return i + 1;
}

void four_operands(op_table& t) {
  using enum value_class;
  add_op(t, "bfi.b32", &insert_field<u32>, b32, b32, b32, b32);
  add_op(t, "bfi.b64", &insert_field<u64>, b64, b64, b64, b32);
  add_op(t, "lop3.b32", &lookup_logic, b32, b32, b32, b32);
}

}  // namespace

void integer_ops(op_table& t) {
  arithmetic(t);
  logic(t);
  bit_fields(t);
  four_operands(t);
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
