// Calls and returns, and calls of the device's runtime library.
//
// idea    Names in angle brackets are not PTX: lowering makes these ops itself.
#include "common/emulator/ops/ops.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

const op* call(context& x, const op* i) { return x.owner->call(i); }
const op* return_all(context& x, const op* i) { return x.owner->return_lanes(i, x.mask); }

// a: predicate, b: negated.
const op* return_if(context& x, const op* i) {
  const u32 leaving = x.mask & (x.predicate(i->a) ^ (i->b != 0 ? all_lanes : 0));
  return leaving == 0 ? i + 1 : x.owner->return_lanes(i, leaving);
}

const op* call_library(context& x, const op* i) { return x.owner->call_library(i); }

// The lanes of a split share one stack address, with enough room for the largest request.
template <class T>
const op* allocate_stack(context& x, const op* i) {
  const T* bytes = x.vreg<T>(i->a);
  u64 most = 0;
  for (int l = 0; l < lanes; ++l)
    if (lane_in(x.active, l) && bytes[l] > most) most = bytes[l];
  const auto at = x.owner->extend_frame(i, most);
  if (!at) return nullptr;
  T* d = x.vreg<T>(i->d);
  for (int l = 0; l < lanes; ++l)
    if (lane_in(x.active, l)) d[l] = static_cast<T>(*at);
  return i + 1;
}

template <class T>
const op* save_stack(context& x, const op* i) {
  T* d = x.vreg<T>(i->d);
  for (int l = 0; l < lanes; ++l)
    if (lane_in(x.active, l)) d[l] = static_cast<T>(x.owner->frame_end());
  return i + 1;
}

template <class T>
const op* restore_stack(context& x, const op* i) {
  x.owner->cut_frame(x.vreg<T>(i->a)[__builtin_ctz(x.active)]);
  return i + 1;
}

}  // namespace

void call_ops(op_table& t) {
  using enum value_class;
  add_op(t, "<call>", &call, none, none, none, none);
  add_op(t, "<return>", &return_all, none, none, none, none);
  add_op(t, "<return if>", &return_if, none, none, none, none);
  add_op(t, "<library call>", &call_library, none, none, none, none);
  add_op(t, "<alloca.b32>", &allocate_stack<u32>, b32, b32, none, none);
  add_op(t, "<alloca.b64>", &allocate_stack<u64>, b64, b64, none, none);
  add_op(t, "<stacksave.b32>", &save_stack<u32>, b32, none, none, none);
  add_op(t, "<stacksave.b64>", &save_stack<u64>, b64, none, none, none);
  add_op(t, "<stackrestore.b32>", &restore_stack<u32>, none, b32, none, none);
  add_op(t, "<stackrestore.b64>", &restore_stack<u64>, none, b64, none, none);
}

}  // namespace stepwise::emulator
