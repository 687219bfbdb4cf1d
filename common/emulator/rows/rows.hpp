// How rows are made: a body for one lane and its name become a row.
//
// idea    One row beside each body: add_row<u32, u32, u32>(t, "shl.b32", [](u32 a, u32 n) {...}).
//         The generic adapter `lanewise` makes a handler for 32 lanes and any mask out of the body.
// watch   Everything is in an unnamed namespace: each file that includes this gets its own copy,
//         compiled for its own instruction set.
#pragma once

#include <type_traits>

#include "common/emulator/rows/row.hpp"

// Before a loop over lanes, in which no lane reads what another one writes.
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
row_name type_name() {
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
row_name bits_name() {
  return sizeof(T) == 1 ? "8" : sizeof(T) == 2 ? "16" : sizeof(T) == 4 ? "32" : "64";
}

[[gnu::always_inline]] inline bool lane_in(u32 mask, int lane) { return (mask >> lane) & 1; }

// d[l] = body(a[l], ...) for the active lanes. Rows of one width coincide or are disjoint, so the
// loops carry no dependence.
template <class Body, class D, class A>
const op* lanewise1(context& x, const op* i) {
  D* d = x.row<D>(i->d);
  const A* a = x.row<A>(i->a);
  const u32 active = x.active;
  if (active == all_lanes) {
    STEPWISE_LANES_APART
    for (int l = 0; l < lanes; ++l) d[l] = Body{}(a[l]);
  } else {
    STEPWISE_LANES_APART
    for (int l = 0; l < lanes; ++l) d[l] = lane_in(active, l) ? Body{}(a[l]) : d[l];
  }
  return i + 1;
}

template <class Body, class D, class A, class B>
const op* lanewise2(context& x, const op* i) {
  D* d = x.row<D>(i->d);
  const A* a = x.row<A>(i->a);
  const B* b = x.row<B>(i->b);
  const u32 active = x.active;
  if (active == all_lanes) {
    STEPWISE_LANES_APART
    for (int l = 0; l < lanes; ++l) d[l] = Body{}(a[l], b[l]);
  } else {
    STEPWISE_LANES_APART
    for (int l = 0; l < lanes; ++l) d[l] = lane_in(active, l) ? Body{}(a[l], b[l]) : d[l];
  }
  return i + 1;
}

template <class Body, class D, class A, class B, class C>
const op* lanewise3(context& x, const op* i) {
  D* d = x.row<D>(i->d);
  const A* a = x.row<A>(i->a);
  const B* b = x.row<B>(i->b);
  const C* c = x.row<C>(i->c);
  const u32 active = x.active;
  if (active == all_lanes) {
    STEPWISE_LANES_APART
    for (int l = 0; l < lanes; ++l) d[l] = Body{}(a[l], b[l], c[l]);
  } else {
    STEPWISE_LANES_APART
    for (int l = 0; l < lanes; ++l) d[l] = lane_in(active, l) ? Body{}(a[l], b[l], c[l]) : d[l];
  }
  return i + 1;
}

template <class D, class A, class Body>
void add_row(row_table& t, const row_name& name, Body) {
  add_row(t, name, &lanewise1<Body, D, A>, class_of<D>(), class_of<A>(), value_class::none,
          value_class::none);
}
template <class D, class A, class B, class Body>
void add_row(row_table& t, const row_name& name, Body) {
  add_row(t, name, &lanewise2<Body, D, A, B>, class_of<D>(), class_of<A>(), class_of<B>(),
          value_class::none);
}
template <class D, class A, class B, class C, class Body>
void add_row(row_table& t, const row_name& name, Body) {
  add_row(t, name, &lanewise3<Body, D, A, B, C>, class_of<D>(), class_of<A>(), class_of<B>(),
          class_of<C>());
}

// Calls f.template operator()<T>() for every T.
template <class... T, class F>
void for_types(F f) {
  (f.template operator()<T>(), ...);
}

}  // namespace
}  // namespace stepwise::emulator
