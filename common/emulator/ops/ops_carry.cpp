// Additions and multiplications with a carry, for integers of several words.
//
// idea    The carry is a predicate of the kernel; op::slot is its register. "add.cc" writes it,
//         "addc" reads it, and "addc.cc" does both.
// source  PTX ISA 9.0, "Extended-Precision Integer Arithmetic Instructions".
//         Tested by tests/opcodes/carry.ptx.
#include "common/emulator/ops/ops.hpp"

namespace stepwise::emulator {
namespace {

template <class T>
using wide_of =
    std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 4, s64, __int128>,
                       std::conditional_t<sizeof(T) == 4, u64, unsigned __int128>>;

enum class carry_out { kept, written };

// Body(a, b, c, carry) updates carry and returns the result. All words are unsigned.
template <class Body, class T, carry_out Out>
const op* with_carry(context& x, const op* i) {
  T* d = x.vreg<T>(i->d);
  const T* a = x.vreg<T>(i->a);
  const T* b = x.vreg<T>(i->b);
  const T* c = x.vreg<T>(i->c);
  u32& carries = x.predicate(i->slot);
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    bool carry = lane_in(carries, l);
    d[l] = Body{}(a[l], b[l], c[l], carry);
    if (Out == carry_out::written)
      carries = (carries & ~(1u << l)) | (static_cast<u32>(carry) << l);
  }
  return i + 1;
}

template <class T>
T sum(T a, T b, bool& carry) {
  T result;
  const bool first = __builtin_add_overflow(a, b, &result);
  const bool second = __builtin_add_overflow(result, static_cast<T>(carry), &result);
  carry = first || second;
  return result;
}
// a + ~b + carry. The carry is 1 if nothing was borrowed, while the manual defines it as a borrow.
// This matters if addc reads it, as in the 128-bit integer division that nvcc emits.
template <class T>
T difference(T a, T b, bool& carry) {
  return sum(a, static_cast<T>(~b), carry);
}
template <class S>
std::make_unsigned_t<S> high_part(std::make_unsigned_t<S> a, std::make_unsigned_t<S> b) {
  const auto product =
      static_cast<wide_of<S>>(static_cast<S>(a)) * static_cast<wide_of<S>>(static_cast<S>(b));
  return static_cast<std::make_unsigned_t<S>>(product >> (8 * sizeof(S)));
}

// S is the type in the name. Words are unsigned because the carry is that of unsigned addition.
template <class S>
void type_ops(op_table& t) {
  using T = std::make_unsigned_t<S>;
  const op_name type = "." + type_name<S>();
  constexpr value_class k = class_of<T>(), none = value_class::none;
  const auto both = [&]<class Body>(const op_name& name, Body, value_class third) {
    add_op(t, name + type, &with_carry<Body, T, carry_out::kept>, k, k, k, third);
    add_op(t, name + ".cc" + type, &with_carry<Body, T, carry_out::written>, k, k, k, third);
  };
  const auto fresh = [&]<class Body>(const op_name& name, Body, value_class third) {
    add_op(t, name + ".cc" + type, &with_carry<Body, T, carry_out::written>, k, k, k, third);
  };
  fresh(
      "add", [](T a, T b, T, bool& c) { return c = false, sum(a, b, c); }, none);
  fresh(
      "sub", [](T a, T b, T, bool& c) { return c = true, difference(a, b, c); }, none);
  both(
      "addc", [](T a, T b, T, bool& c) { return sum(a, b, c); }, none);
  both(
      "subc", [](T a, T b, T, bool& c) { return difference(a, b, c); }, none);
  auto low = [](T a, T b, T c, bool& carry) { return sum(static_cast<T>(a * b), c, carry); };
  auto high = [](T a, T b, T c, bool& carry) { return sum(high_part<S>(a, b), c, carry); };
  both("madc.lo", low, k);
  both("madc.hi", high, k);
  fresh(
      "mad.lo", [](T a, T b, T c, bool& y) { return y = false, sum(static_cast<T>(a * b), c, y); },
      k);
  fresh(
      "mad.hi", [](T a, T b, T c, bool& y) { return y = false, sum(high_part<S>(a, b), c, y); }, k);
}

}  // namespace

void carry_ops(op_table& t) {
  for_types<u32, s32, u64, s64>([&]<class S>() { type_ops<S>(t); });
}

}  // namespace stepwise::emulator
