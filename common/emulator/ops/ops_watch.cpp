// The ops that describe memory accesses to the observers of a watched launch.
//
// idea    The addresses of every space go into one array; generic addresses are grouped by space.
//         Lanes that an observer holds back skip the access, which is the next op.
#include "common/emulator/ops/locate.hpp"
#include "common/emulator/run/scheduler.hpp"

namespace stepwise::emulator {

namespace {

memory_space space_of(u64 address) {
  const u64 window = (address - shared_window) / window_bytes;
  return window == 0   ? memory_space::shared
         : window == 1 ? memory_space::local
         : window == 2 ? memory_space::parameter
                       : memory_space::global;
}

// Runs the access, which is the next op, for the allowed lanes.
const op* go_on(context& x, const op* i, u32 allowed) {
  if (allowed == x.active) [[likely]]
    return i + 1;
  const u32 active = x.active;
  x.active = allowed;
  // Even an access without active lanes returns the op that follows.
  const op* next = i[1].run(x, i + 1);
  x.active = active;
  return next;
}

// a: address register, b: lanes that give addresses, immediate: offset, slot: access_site.
template <memory_space Space, class A>
const op* watch(context& x, const op* i) {
  const u32 active = x.active & i->b;
  const access_site& site = x.owner->site(i->slot);
  access_shape& shape = x.owner->shape(i->slot);
  alignas(64) u64 address[lanes];
  const bool fits = shape.reach(x.vreg<A>(i->a), static_cast<u64>(i->immediate), active, address);
  // The access itself will need its bytes soon. Prefetching an invalid address is harmless.
  if constexpr (Space == memory_space::global) {
    const u64 from = address[shape.first] + static_cast<u64>(x.host_of_device);
    __builtin_prefetch(reinterpret_cast<const void*>(from));
    __builtin_prefetch(reinterpret_cast<const void*>(from + 64));
  }
  access_event e{&site, i->slot, Space, active, x.owner->warp_index(), address, &shape, i};
  if constexpr (Space != memory_space::generic) {
    if (!fits && active != 0) shape.describe(address, active, site.bytes);
    return go_on(x, i, x.watch->access(e) | (x.active & ~i->b));
  } else {
    u32 allowed = x.active & ~i->b;
    for (u32 left = active; left != 0;) {
      const memory_space first = space_of(address[__builtin_ctz(left)]);
      u32 same = 0;
      for (u32 m = left; m != 0; m &= m - 1)
        if (space_of(address[__builtin_ctz(m)]) == first) same |= m & -m;
      left &= ~same;
      e.space = first;
      e.active = same;
      // The offset of an address in its window is its offset in that memory.
      const u64 window = address[__builtin_ctz(same)] & ~(window_bytes - 1);
      alignas(64) u64 offsets[lanes];
      e.address = first == memory_space::global ? address : offsets;
      if (!shape.reach(address, first == memory_space::global ? 0 : u64{0} - window, same, offsets))
        shape.describe(offsets, same, site.bytes);
      allowed |= x.watch->access(e);
    }
    return go_on(x, i, allowed);
  }
}

// Like watch(), for a copy. d is 0 or a predicate register; c is 0 or a register of byte counts.
// Lanes with a true predicate or a byte count of 0 read nothing.
const op* watch_copied(context& x, const op* i) {
  u32 reads = x.active;
  if (i->d != 0) reads &= ~x.predicate(i->d);
  for (u32 m = i->c != 0 ? reads : 0; m != 0; m &= m - 1)
    if (x.vreg<u32>(i->c)[__builtin_ctz(m)] == 0) reads &= ~(m & -m);
  const u32 active = x.active;
  x.active = reads;
  watch<memory_space::global, u64>(x, i);
  x.active = active;
  return i + 1;
}

warp_event here(const context& x, const op* i) { return {x.owner->warp_index(), x.active, i}; }

const op* watch_commit(context& x, const op* i) {
  x.watch->committed_copies(here(x, i));
  return i + 1;
}
const op* watch_wait(context& x, const op* i) {
  x.watch->waited_for_copies(here(x, i), static_cast<int>(i->immediate));
  return i + 1;
}
const op* watch_fence(context& x, const op* i) {
  x.watch->fenced(here(x, i), static_cast<memory_order>(i->a), static_cast<sync_scope>(i->b));
  return i + 1;
}

// a: predicate; b: negated; slot: the basic block to which the lanes that satisfy it branch.
const op* watch_turn(context& x, const op* i) {
  const u32 taking = x.mask & (x.predicate(i->a) ^ (i->b != 0 ? all_lanes : 0));
  if (taking != 0) x.watch->took_branch({x.owner->warp_index(), taking, i}, i->slot);
  return i + 1;
}

// a: indices into the table `immediate` of basic blocks.
const op* watch_turn_indexed(context& x, const op* i) {
  const std::vector<u32>& table = x.owner->jump_table(i);
  const u32* index = x.vreg<u32>(i->a);
  for (u32 to = 0; to < table.size(); ++to) {
    u32 taking = 0;
    for (u32 m = x.mask; m != 0; m &= m - 1)
      if (index[__builtin_ctz(m)] == to) taking |= m & -m;
    if (taking != 0) x.watch->took_branch({x.owner->warp_index(), taking, i}, table[to]);
  }
  return i + 1;
}

}  // namespace

void watch_ops(op_table& t) {
  const auto add = [&]<memory_space Space>(const op_name& name) {
    using enum value_class;
    add_op(t, "<watch." + name + ".a32>", &watch<Space, u32>, none, b32, none, none);
    add_op(t, "<watch." + name + ".a64>", &watch<Space, u64>, none, b64, none, none);
  };
  add.template operator()<memory_space::global>("global");
  add.template operator()<memory_space::shared>("shared");
  add.template operator()<memory_space::local>("local");
  add.template operator()<memory_space::parameter>("param");
  add.template operator()<memory_space::generic>("generic");
  using enum value_class;
  add_op(t, "<watch copied>", &watch_copied, none, b64, none, none);
  add_op(t, "<watch commit>", &watch_commit, none, none, none, none);
  add_op(t, "<watch wait>", &watch_wait, none, none, none, none);
  add_op(t, "<watch turn>", &watch_turn, none, none, none, none);
  add_op(t, "<watch turn indexed>", &watch_turn_indexed, none, b32, none, none);
  add_op(t, "<watch fence>", &watch_fence, none, none, none, none);
}

}  // namespace stepwise::emulator
