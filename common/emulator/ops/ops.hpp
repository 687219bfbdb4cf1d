// Makes an op from a name and a body that computes one lane.
//
// idea    Add an op at its body: add_op<u32, u32, u32>(t, "shl.b32", [](u32 a, u32 n) {...}).
//         The generic adapter `lanewise` makes a handler for 32 lanes and any mask out of the body.
// watch   Everything is in an unnamed namespace: each file that includes this gets its own copy,
//         compiled for its own instruction set.
#pragma once

#include <type_traits>

#include "common/emulator/ops/op_entry.hpp"

// Precedes a loop over lanes in which no lane reads what another lane writes.
#if defined(__clang__)
#define STEPWISE_LANES_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define STEPWISE_LANES_APART _Pragma("GCC ivdep")
#endif

namespace stepwise::emulator {
namespace {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

template <class T>
constexpr value_class class_of() {
  if constexpr (std::is_same_v<T, f32>)
    return value_class::f32;
  else if constexpr (std::is_same_v<T, f64>)
    return value_class::f64;
  else if constexpr (sizeof(T) == 2)
    return value_class::b16;
  else if constexpr (sizeof(T) == 4)
    return value_class::b32;
  else
    return value_class::b64;
}

template <class T>
op_name type_name() {
  if constexpr (std::is_same_v<T, u8>)
    return "u8";
  else if constexpr (std::is_same_v<T, s8>)
    return "s8";
  else if constexpr (std::is_same_v<T, u16>)
    return "u16";
  else if constexpr (std::is_same_v<T, s16>)
    return "s16";
  else if constexpr (std::is_same_v<T, u32>)
    return "u32";
  else if constexpr (std::is_same_v<T, s32>)
    return "s32";
  else if constexpr (std::is_same_v<T, u64>)
    return "u64";
  else if constexpr (std::is_same_v<T, s64>)
    return "s64";
  else if constexpr (std::is_same_v<T, f32>)
    return "f32";
  else
    return "f64";
}

// "8", "16", "32", "64": the bits of a T.
template <class T>
op_name bits_name() {
  return sizeof(T) == 1 ? "8" : sizeof(T) == 2 ? "16" : sizeof(T) == 4 ? "32" : "64";
}

inline constexpr u32 lane_bit[lanes] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

// A table lookup lets compilers vectorise loops over lanes. A shift would become a branch.
[[gnu::always_inline]] inline bool lane_in(u32 mask, int lane) {
  return (mask & lane_bit[lane]) != 0;
}

// d[l] = values[l] for the active lanes.
template <class T>
[[gnu::always_inline]] inline void keep_active(u32 active, const T (&values)[lanes], T* d) {
  STEPWISE_LANES_APART
  for (int l = 0; l < lanes; ++l) d[l] = lane_in(active, l) ? values[l] : d[l];
}

// d[l] = value(l) for the active lanes. Vector code computes the inactive lanes at no extra cost.
template <class D, class Value>
[[gnu::always_inline]] inline void for_active(u32 active, D* d, Value value) {
  if (active == all_lanes) {
    STEPWISE_LANES_APART
    for (int l = 0; l < lanes; ++l) d[l] = value(l);
    return;
  }
#if defined(STEPWISE_SIMD)
  D values[lanes];
  for (int l = 0; l < lanes; ++l) values[l] = value(l);
  keep_active(active, values, d);
#else
  for (u32 m = active; m != 0; m &= m - 1) d[__builtin_ctz(m)] = value(__builtin_ctz(m));
#endif
}

// d[l] = body(a[l], ...) for the active lanes. Vregs of one width are identical or disjoint, so the
// loops carry no dependence.
template <class Body, class D, class A>
const op* lanewise1(context& x, const op* i) {
  const A* a = x.vreg<A>(i->a);
  for_active(x.active, x.vreg<D>(i->d), [=](int l) -> D { return Body{}(a[l]); });
  return i + 1;
}

template <class Body, class D, class A, class B>
const op* lanewise2(context& x, const op* i) {
  const A* a = x.vreg<A>(i->a);
  const B* b = x.vreg<B>(i->b);
  for_active(x.active, x.vreg<D>(i->d), [=](int l) -> D { return Body{}(a[l], b[l]); });
  return i + 1;
}

template <class Body, class D, class A, class B, class C>
const op* lanewise3(context& x, const op* i) {
  const A* a = x.vreg<A>(i->a);
  const B* b = x.vreg<B>(i->b);
  const C* c = x.vreg<C>(i->c);
  for_active(x.active, x.vreg<D>(i->d), [=](int l) -> D { return Body{}(a[l], b[l], c[l]); });
  return i + 1;
}

template <class D, class A, class Body>
void add_op(op_table& t, const op_name& name, Body) {
  add_op(t, name, &lanewise1<Body, D, A>, class_of<D>(), class_of<A>(), value_class::none,
         value_class::none);
}
template <class D, class A, class B, class Body>
void add_op(op_table& t, const op_name& name, Body) {
  add_op(t, name, &lanewise2<Body, D, A, B>, class_of<D>(), class_of<A>(), class_of<B>(),
         value_class::none);
}
template <class D, class A, class B, class C, class Body>
void add_op(op_table& t, const op_name& name, Body) {
  add_op(t, name, &lanewise3<Body, D, A, B, C>, class_of<D>(), class_of<A>(), class_of<B>(),
         class_of<C>());
}

// Calls f.template operator()<T>() for every T.
template <class... T, class F>
void for_types(F f) {
  (f.template operator()<T>(), ...);
}

}  // namespace
}  // namespace stepwise::emulator
