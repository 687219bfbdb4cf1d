// Functions that replace a word of memory with a function of itself and of an operand: for atomics
// and for copies that reduce.
//
// watch   In an unnamed namespace, like ops.hpp.
#pragma once

#include <bit>
#include <cmath>

#include "common/emulator/machine/tensor_copy.hpp"
#include "common/emulator/ops/narrow.hpp"

namespace stepwise::emulator {
namespace {

// Applies `next` to the word at `at`. If other host threads share the word, retries until no other
// thread wrote in between.
template <bool Shared, class T, class Next>
void replace(std::byte* at, Next next) {
  using word =
      std::conditional_t<sizeof(T) == 8, u64, std::conditional_t<sizeof(T) == 4, u32, u16>>;
  word* p = reinterpret_cast<word*>(at);
  word old = __atomic_load_n(p, __ATOMIC_RELAXED);
  const auto replacement = [&] { return std::bit_cast<word>(next(std::bit_cast<T>(old))); };
  if constexpr (Shared) {
    while (!__atomic_compare_exchange_n(p, &old, replacement(), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
    }
  } else {
    __atomic_store_n(p, replacement(), __ATOMIC_RELAXED);
  }
}

// PTX specifies .ftz for f32 atom.add on global memory, but current hardware keeps subnormals. NaN
// is canonical.
inline f32 sum(f32 a, f32 b) {
  const f32 r = a + b;
  return r == r ? r : std::bit_cast<f32>(0x7fffffffu);
}
inline f64 sum(f64 a, f64 b) { return a + b; }

// .noftz is the only form, so subnormals stay.
template <class F>
u16 half_sum(u32 a, u32 b) {
  return F::rounded(F::value(a & 0xffff) + F::value(b & 0xffff));
}
template <class F, bool Least>
u16 half_choice(u32 a, u32 b) {
  const f32 p = F::value(a & 0xffff), q = F::value(b & 0xffff);
  if (p != p && q != q) return 0x7fff;
  const bool first = q != q || (p == p && (p == q ? std::signbit(p) == Least : (p < q) == Least));
  return static_cast<u16>(first ? a : b);
}

// Calls use.template operator()<T>(operation, type, next) for the reductions of bulk copies, where
// next(T before, T value) -> T.
// source  PTX ISA 9.0, "cp.reduce.async.bulk"
template <class Use>
void for_reductions(Use use) {
  using enum reduction;
  const auto integer = [&]<class T>(const char* type) {
    use.template operator()<T>(add, type, [](T a, T b) { return static_cast<T>(a + b); });
    use.template operator()<T>(min, type, [](T a, T b) { return b < a ? b : a; });
    use.template operator()<T>(max, type, [](T a, T b) { return a < b ? b : a; });
  };
  integer.template operator()<u32>("u32");
  integer.template operator()<s32>("s32");
  integer.template operator()<u64>("u64");
  integer.template operator()<s64>("s64");
  use.template operator()<f32>(add, "f32", [](f32 a, f32 b) { return sum(a, b); });
  use.template operator()<f64>(add, "f64", [](f64 a, f64 b) { return sum(a, b); });
  const auto half = [&]<class F>(F) {
    use.template operator()<u16>(add, F::name, [](u16 a, u16 b) { return half_sum<F>(a, b); });
    use.template operator()<u16>(min, F::name,
                                 [](u16 a, u16 b) { return half_choice<F, true>(a, b); });
    use.template operator()<u16>(max, F::name,
                                 [](u16 a, u16 b) { return half_choice<F, false>(a, b); });
  };
  half(f16_arithmetic{});
  half(bf16_arithmetic{});
  const auto bits = [&]<class T>(const char* type) {
    use.template operator()<T>(bit_and, type, [](T a, T b) { return a & b; });
    use.template operator()<T>(bit_or, type, [](T a, T b) { return a | b; });
    use.template operator()<T>(bit_xor, type, [](T a, T b) { return a ^ b; });
  };
  bits.template operator()<u32>("b32");
  bits.template operator()<u64>("b64");
  use.template operator()<u32>(inc, "u32", [](u32 a, u32 b) { return a >= b ? 0 : a + 1; });
  use.template operator()<u32>(dec, "u32",
                               [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; });
}

// Each element of the destination becomes next(element, element of the source).
template <class T, class Next>
void reduce_elements(std::byte* to, const std::byte* from, u64 bytes) {
  for (u64 at = 0; at < bytes; at += sizeof(T)) {
    T value;
    std::memcpy(&value, from + at, sizeof(T));
    replace<true, T>(to + at, [&](T before) { return Next{}(before, value); });
  }
}

}  // namespace
}  // namespace stepwise::emulator
