// Atomic read-modify-write operations on global, shared and generic addresses.
//
// idea    Lanes run in order of their number. Adjacent lanes with the same address, often a whole
//         warp, replace the word with one host atomic operation, since blocks on other host threads
//         may access it. A block's shared memory belongs to one host thread at a time. Ops are
//         named "atom.global.add.u32".
// source  PTX ISA 9.0, "atom". Tested by tests/opcodes/atom*.ptx.
#include "common/emulator/ops/locate.hpp"
#include "common/emulator/ops/reduction.hpp"

namespace stepwise::emulator {
namespace {

template <memory_space Space, class A, class T, class Next>
const op* atomic(context& x, const op* i) {
  x.counts.atomics += static_cast<u64>(__builtin_popcount(x.active));
  std::byte* host[lanes];
  if (!locate<Space, A, sizeof(T)>(x, i, access_kind::atomic, host)) return nullptr;
  T* d = x.vreg<T>(i->d);
  const T* b = x.vreg<T>(i->b);
  const T* c = x.vreg<T>(i->c);
  T before[lanes];  // d may be b or c, which a retry reads
  for (u32 m = x.active; m != 0;) {
    const int first = __builtin_ctz(m);
    std::byte* const at = host[first];
    u32 rest = m & (m - 1);
    while (rest != 0 && host[__builtin_ctz(rest)] == at) rest &= rest - 1;
    const u32 same = m ^ rest;
    replace<Space != memory_space::shared, T>(at, [&](T value) {
      for (u32 s = same; s != 0; s &= s - 1) {
        const int l = __builtin_ctz(s);
        before[l] = value;
        value = Next{}(value, b[l], c[l]);
      }
      return value;
    });
    m = rest;
  }
  for (u32 m = x.active; m != 0; m &= m - 1) d[__builtin_ctz(m)] = before[__builtin_ctz(m)];
  return i + 1;
}

// Stops at an address that is not a multiple of the op's b bytes. The elements of a vector are
// atomic individually, but the vector must be aligned as a whole.
const op* aligned(context& x, const op* i) {
  const u64* address = x.vreg<u64>(i->a);
  for (u32 m = x.active; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const u64 at = address[l] + static_cast<u64>(i->immediate);
    if (at % i->b == 0) continue;
    return stop_with(x, i, {true, memory_space::global, access_kind::atomic, l, at, i->b});
  }
  return i + 1;
}

// The ops of one operation, for each kind of address.
struct handlers {
  handler global, shared32, shared64, generic;
};
void add_spaces(op_table& t, const op_name& name, value_class k, const handlers& run) {
  const auto add_one = [&](const char* space, const char* address, value_class a, handler h) {
    add_op(t, op_name("atom.") + space + name + address, h, k, a, k, k);
  };
  add_one("global.", ".a64", value_class::b64, run.global);
  add_one("shared.", ".a32", value_class::b32, run.shared32);
  add_one("shared.", ".a64", value_class::b64, run.shared64);
  add_one("generic.", ".a64", value_class::b64, run.generic);
}
template <class T, class Next>
void add(op_table& t, const op_name& name, Next) {
  using enum memory_space;
  add_spaces(t, name, class_of<T>(),
             {&atomic<global, u64, T, Next>, &atomic<shared, u32, T, Next>,
              &atomic<shared, u64, T, Next>, &atomic<generic, u64, T, Next>});
}

// Operations on halves, and on pairs, whose halves are updated in one step.
template <class F>
void half_ops_of(op_table& t) {
  const auto add_each = [&]<class Body>(const op_name& name, Body) {
    add<u16>(t, name + F::name, [](u16 old, u16 b, u16) { return Body{}(old, b); });
    add<u32>(t, name + F::name + "x2", [](u32 old, u32 b, u32) {
      return Body{}(old, b) | static_cast<u32>(Body{}(old >> 16, b >> 16)) << 16;
    });
  };
  add_each("add.", [](u32 a, u32 b) { return half_sum<F>(a, b); });
  add_each("min.", [](u32 a, u32 b) { return half_choice<F, true>(a, b); });
  add_each("max.", [](u32 a, u32 b) { return half_choice<F, false>(a, b); });
}

}  // namespace

void atomic_ops(op_table& t) {
  constexpr auto none = value_class::none;
  add_op(t, "<aligned>", &aligned, none, none, none, none);
  for_types<u32, s32, u64, s64>([&]<class T>() {
    const op_name type = "." + type_name<T>();
    add<T>(t, "add" + type, [](T old, T b, T) { return static_cast<T>(old + b); });
    add<T>(t, "min" + type, [](T old, T b, T) { return old < b ? old : b; });
    add<T>(t, "max" + type, [](T old, T b, T) { return old < b ? b : old; });
  });
  for_types<f32, f64>([&]<class T>() {
    add<T>(t, "add." + type_name<T>(), [](T old, T b, T) { return sum(old, b); });
  });
  for_types<u32, u64>([&]<class T>() {
    const op_name type = ".b" + bits_name<T>();
    add<T>(t, "and" + type, [](T old, T b, T) { return old & b; });
    add<T>(t, "or" + type, [](T old, T b, T) { return old | b; });
    add<T>(t, "xor" + type, [](T old, T b, T) { return old ^ b; });
    add<T>(t, "exch" + type, [](T, T b, T) { return b; });
    add<T>(t, "cas" + type, [](T old, T b, T c) { return old == b ? c : old; });
  });
  half_ops_of<f16_arithmetic>(t);
  half_ops_of<bf16_arithmetic>(t);
  add<u16>(t, "cas.b16", [](u16 old, u16 b, u16 c) { return old == b ? c : old; });
  add<u32>(t, "inc.u32", [](u32 old, u32 b, u32) { return old >= b ? 0 : old + 1; });
  add<u32>(t, "dec.u32", [](u32 old, u32 b, u32) { return old == 0 || old > b ? b : old - 1; });
}

}  // namespace stepwise::emulator
