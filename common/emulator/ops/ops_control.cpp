// Branches, joins, guards, barriers, warp-wide operations and exits: ops that call the scheduler.
//
// idea    Names in angle brackets are not PTX: lowering makes these ops itself.
#include "common/emulator/ops/ops.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {
namespace {

u32 guard_mask(context& x, const op* i) { return x.predicate(i->a) ^ (i->b != 0 ? all_lanes : 0); }

const op* branch(context& x, const op* i) { return x.owner->branch(i, x.code + i->immediate); }

// a: predicate; b: negated; slot: the op where the branches reconverge; c: an outer reconvergence
// op, after a loop.
const op* branch_if(context& x, const op* i) {
  const u32 taken = x.mask & guard_mask(x, i);
  if (taken == 0) return i + 1;
  if (taken == x.mask) return x.owner->branch(i, x.code + i->immediate);
  return x.owner->diverge(i, taken);
}

const op* branch_indexed(context& x, const op* i) { return x.owner->branch_indexed(i); }

const op* join(context& x, const op* i) { return x.owner->reach_join(i); }

// The operations up to the op at `immediate` run for the lanes whose guard holds.
const op* guard_begin(context& x, const op* i) {
  x.active = x.mask & guard_mask(x, i);
  if (x.active != 0) return i + 1;
  x.active = x.mask;
  return x.code + i->immediate;
}
const op* guard_end(context& x, const op* i) {
  x.active = x.mask;
  return i + 1;
}

const op* exit_all(context& x, const op* i) { return x.owner->exit_lanes(i, x.mask); }
const op* exit_if(context& x, const op* i) {
  const u32 leaving = x.mask & guard_mask(x, i);
  return leaving == 0 ? i + 1 : x.owner->exit_lanes(i, leaving);
}

const op* barrier(context& x, const op* i) { return x.owner->reach_barrier(i); }
const op* cluster_arrive(context& x, const op* i) { return x.owner->arrive_at_cluster(i); }
const op* cluster_wait(context& x, const op* i) { return x.owner->wait_for_cluster(i); }
const op* warpgroup_wait(context& x, const op* i) { return x.owner->wait_for_warpgroup(i); }
template <bool More>
const op* change_registers(context& x, const op* i) {
  return x.owner->change_registers(i, More);
}
const op* wait_for_registers(context& x, const op* i) { return x.owner->wait_for_registers(i); }
const op* warp_wide(context& x, const op* i) { return x.owner->synchronise(i); }

// Precedes a volatile or ordered load, an atomic whose result is used, or a fence, since a loop
// that waits executes one of these. It ends the warp's time slice sooner, so that the thread that
// the loop waits for can run.
const op* poll(context& x, const op* i) {
  ++x.polls;
  x.budget -= 512;
  return i + 1;
}

// Holds the registers of a vector access, which skips this op.
const op* vregs(context&, const op* i) { return i + 1; }

const op* fence(context&, const op* i) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return i + 1;
}

const op* sleep(context& x, const op* i) {
  ++x.polls;
  x.budget = 0;
  x.owner->sleep(x.vreg<u32>(i->a)[__builtin_ctz(x.active)]);
  return i + 1;
}

const op* active_mask(context& x, const op* i) {
  u32* d = x.vreg<u32>(i->d);
  for (int l = 0; l < lanes; ++l)
    if (lane_in(x.active, l)) d[l] = x.active;
  return i + 1;
}

template <class T>
const op* clock(context& x, const op* i) {
  T* d = x.vreg<T>(i->d);
  const T now = static_cast<T>(x.owner->clock(i));
  for (int l = 0; l < lanes; ++l)
    if (lane_in(x.active, l)) d[l] = now;
  return i + 1;
}

const op* global_timer(context& x, const op* i) {
  u64* d = x.vreg<u64>(i->d);
  const u64 now = x.owner->global_time_ns(i);
  for (int l = 0; l < lanes; ++l)
    if (lane_in(x.active, l)) d[l] = now;
  return i + 1;
}

// brkpt without a debugger is a trap too.
const op* trap(context& x, const op* i) { return x.owner->trap(i); }

}  // namespace

void control_ops(op_table& t) {
  using enum value_class;
  add_op(t, "<branch>", &branch, none, none, none, none);
  add_op(t, "<branch if>", &branch_if, none, none, none, none);
  add_op(t, "<branch indexed>", &branch_indexed, none, b32, none, none);
  add_op(t, "<join>", &join, none, none, none, none);
  add_op(t, "<guard>", &guard_begin, none, none, none, none);
  add_op(t, "<end of guard>", &guard_end, none, none, none, none);
  add_op(t, "<exit>", &exit_all, none, none, none, none);
  add_op(t, "<exit if>", &exit_if, none, none, none, none);
  add_op(t, "<barrier>", &barrier, none, none, none, none);
  add_op(t, "<cluster arrive>", &cluster_arrive, none, none, none, none);
  add_op(t, "<cluster wait>", &cluster_wait, none, none, none, none);
  add_op(t, "<warpgroup wait>", &warpgroup_wait, none, none, none, none);
  add_op(t, "<fewer registers>", &change_registers<false>, none, none, none, none);
  add_op(t, "<more registers>", &change_registers<true>, none, none, none, none);
  add_op(t, "<register wait>", &wait_for_registers, none, none, none, none);
  add_op(t, "<warp-wide>", &warp_wide, none, none, none, none);
  add_op(t, "<vregs>", &vregs, none, none, none, none);
  add_op(t, "<poll>", &poll, none, none, none, none);
  add_op(t, "<fence>", &fence, none, none, none, none);
  add_op(t, "<sleep>", &sleep, none, b32, none, none);
  add_op(t, "<clock>", &clock<u32>, b32, none, none, none);
  add_op(t, "<clock64>", &clock<u64>, b64, none, none, none);
  add_op(t, "<globaltimer>", &global_timer, b64, none, none, none);
  add_op(t, "activemask.b32", &active_mask, b32, none, none, none);
  add_op(t, "trap", &trap, none, none, none, none);
  add_op(t, "brkpt", &trap, none, none, none, none);
}

}  // namespace stepwise::emulator
