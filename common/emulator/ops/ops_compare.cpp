// Comparisons, selections and logic on predicates. A predicate is one bit per lane in 32 bits.
//
// source  PTX ISA 9.0, "Comparison and Selection Instructions". Tested by tests/opcodes/.
#include <bit>

#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator::STEPWISE_SIMD {
namespace {

[[gnu::always_inline]] inline void set_predicate(context& x, u32 vreg, u32 value) {
  u32& p = x.predicate(vreg);
  p = (p & ~x.active) | (value & x.active);
}

template <class Body, class A>
const op* compare(context& x, const op* i) {
  const A* a = x.vreg<A>(i->a);
  const A* b = x.vreg<A>(i->b);
  u32 value = 0;
  for (int l = 0; l < lanes; ++l) value |= static_cast<u32>(Body{}(a[l], b[l])) << l;
  set_predicate(x, i->d, value);
  return i + 1;
}

template <class A, class Body>
void compare_op(op_table& t, const op_name& name, Body) {
  add_op(t, "setp." + name + "." + type_name<A>(), &compare<Body, A>, value_class::predicate,
         class_of<A>(), class_of<A>(), value_class::none);
}

template <class T>
void ordered(op_table& t) {
  compare_op<T>(t, "eq", [](T a, T b) { return a == b; });
  compare_op<T>(t, "lt", [](T a, T b) { return a < b; });
  compare_op<T>(t, "le", [](T a, T b) { return a <= b; });
  compare_op<T>(t, "gt", [](T a, T b) { return a > b; });
  compare_op<T>(t, "ge", [](T a, T b) { return a >= b; });
}

template <class T>
void floating(op_table& t) {
  ordered<T>(t);
  // If an operand is NaN, the plain relations are false and those that end in u are true.
  compare_op<T>(t, "ne", [](T a, T b) { return a < b || a > b; });
  compare_op<T>(t, "equ", [](T a, T b) { return !(a < b || a > b); });
  compare_op<T>(t, "neu", [](T a, T b) { return !(a == b); });
  compare_op<T>(t, "ltu", [](T a, T b) { return !(a >= b); });
  compare_op<T>(t, "leu", [](T a, T b) { return !(a > b); });
  compare_op<T>(t, "gtu", [](T a, T b) { return !(a <= b); });
  compare_op<T>(t, "geu", [](T a, T b) { return !(a < b); });
  compare_op<T>(t, "num", [](T a, T b) { return a == a && b == b; });
  compare_op<T>(t, "nan", [](T a, T b) { return !(a == a && b == b); });
}

template <class Body>
const op* flushed_compare(context& x, const op* i) {
  const u32* a = x.vreg<u32>(i->a);
  const u32* b = x.vreg<u32>(i->b);
  auto flush = [](u32 v) {
    return std::bit_cast<f32>((v & 0x7f800000u) == 0 ? v & 0x80000000u : v);
  };
  u32 value = 0;
  for (int l = 0; l < lanes; ++l) value |= static_cast<u32>(Body{}(flush(a[l]), flush(b[l]))) << l;
  set_predicate(x, i->d, value);
  return i + 1;
}

template <class Body>
void flushed_op(op_table& t, const op_name& name, Body) {
  add_op(t, "setp." + name + ".ftz.f32", &flushed_compare<Body>, value_class::predicate,
         value_class::f32, value_class::f32, value_class::none);
}

template <class T>
const op* select(context& x, const op* i) {
  const T* a = x.vreg<T>(i->a);
  const T* b = x.vreg<T>(i->b);
  const u32 p = x.predicate(i->c);
  for_active(x.active, x.vreg<T>(i->d), [=](int l) {
    const T first = a[l], second = b[l];
    return lane_in(p, l) ? first : second;
  });
  return i + 1;
}

template <class Body>
const op* logic(context& x, const op* i) {
  set_predicate(x, i->d, Body{}(x.predicate(i->a), x.predicate(i->b)));
  return i + 1;
}

template <class Body>
void logic_op(op_table& t, const char* name, Body) {
  add_op(t, name, &logic<Body>, value_class::predicate, value_class::predicate,
         value_class::predicate, value_class::none);
}

}  // namespace

void compare_ops(op_table& t) {
  for_types<u16, s16, u32, s32, u64, s64>([&]<class T>() {
    ordered<T>(t);
    compare_op<T>(t, "ne", [](T a, T b) { return a != b; });
  });
  floating<f32>(t);
  floating<f64>(t);
  flushed_op(t, "eq", [](f32 a, f32 b) { return a == b; });
  flushed_op(t, "lt", [](f32 a, f32 b) { return a < b; });
  flushed_op(t, "le", [](f32 a, f32 b) { return a <= b; });
  flushed_op(t, "gt", [](f32 a, f32 b) { return a > b; });
  flushed_op(t, "ge", [](f32 a, f32 b) { return a >= b; });
  flushed_op(t, "ne", [](f32 a, f32 b) { return a < b || a > b; });
  flushed_op(t, "equ", [](f32 a, f32 b) { return !(a < b || a > b); });
  flushed_op(t, "neu", [](f32 a, f32 b) { return !(a == b); });
  flushed_op(t, "ltu", [](f32 a, f32 b) { return !(a >= b); });
  flushed_op(t, "leu", [](f32 a, f32 b) { return !(a > b); });
  flushed_op(t, "gtu", [](f32 a, f32 b) { return !(a <= b); });
  flushed_op(t, "geu", [](f32 a, f32 b) { return !(a < b); });
  flushed_op(t, "num", [](f32 a, f32 b) { return a == a && b == b; });
  flushed_op(t, "nan", [](f32 a, f32 b) { return !(a == a && b == b); });
  for_types<u16, u32, u64>([&]<class T>() {
    const value_class k = class_of<T>();
    add_op(t, "selp.b" + bits_name<T>(), &select<T>, k, k, k, value_class::predicate);
  });
  logic_op(t, "and.pred", [](u32 a, u32 b) { return a & b; });
  logic_op(t, "or.pred", [](u32 a, u32 b) { return a | b; });
  logic_op(t, "xor.pred", [](u32 a, u32 b) { return a ^ b; });
  // mov and not ignore the second operand.
  logic_op(t, "mov.pred", [](u32 a, u32) { return a; });
  logic_op(t, "not.pred", [](u32 a, u32) { return ~a; });
}

}  // namespace stepwise::emulator::STEPWISE_SIMD
