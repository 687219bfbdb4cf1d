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
const op* next_op(context& x, const op* i, u32 allowed) {
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
    return next_op(x, i, x.watch->access(e) | (x.active & ~i->b));
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
    return next_op(x, i, allowed);
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

const op* watch_fence(context& x, const op* i) {
  x.watch->fenced(here(x, i), static_cast<memory_order>(i->a), static_cast<sync_scope>(i->b));
  return i + 1;
}

// a: the generic addresses of tensor maps, 0 for none; b: async_step; immediate: its value.
const op* watch_step(context& x, const op* i) {
  const auto step = static_cast<async_step>(i->b);
  if (i->a == 0) {
    x.watch->took_step(here(x, i), step, i->immediate);
    return i + 1;
  }
  for (u32 m = x.active; m != 0; m &= m - 1)
    x.watch->took_step({x.owner->warp_index(), m & -m, i}, step,
                       static_cast<s64>(x.vreg<u64>(i->a)[__builtin_ctz(m)]));
  return i + 1;
}

// a: predicate; b: negated; slot: the basic block to which the lanes that satisfy it branch.
const op* watch_path(context& x, const op* i) {
  const u32 taking = x.mask & (x.predicate(i->a) ^ (i->b != 0 ? all_lanes : 0));
  if (taking != 0) x.watch->took_branch({x.owner->warp_index(), taking, i}, i->slot);
  return i + 1;
}

// a: indices into the table `immediate` of basic blocks.
const op* watch_path_indexed(context& x, const op* i) {
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

// --- values that are not set. A shadow is a predicate of the lanes in which a register is not set.
// Offset 0 is the shadow of values that are always set.

u32 shadow(const context& x, u32 offset) { return offset != 0 ? x.predicate(offset) : 0; }

void set_shadow(context& x, u32 offset, u32 unset) {
  u32& d = x.predicate(offset);
  d = (d & ~x.active) | (unset & x.active);
}

const op* unset_begin(context& x, const op* i) {
  x.predicate(i->d) |= x.mask;
  return i + 1;
}
const op* unset_any(context& x, const op* i) {
  set_shadow(x, i->d, shadow(x, i->a) | shadow(x, i->b) | shadow(x, i->c));
  return i + 1;
}
const op* unset_all(context& x, const op* i) {
  set_shadow(x, i->d, shadow(x, i->a) & shadow(x, i->b));
  return i + 1;
}

const op* unset_difference(context& x, const op* i) {
  set_shadow(x, i->d, shadow(x, i->a) ^ shadow(x, i->b));
  return i + 1;
}

// The lanes whose value has no bit that is set.
template <class T>
u32 zero_lanes(const context& x, u32 offset) {
  u32 zero = 0;
  for (int l = 0; l < lanes; ++l) zero |= static_cast<u32>(x.vreg<T>(offset)[l] == 0) << l;
  return zero;
}

// A zero that is set decides alone. a, b: shadows; c, slot: values.
const op* and_shadow(context& x, const op* i, u32 zero_a, u32 zero_b) {
  const u32 a = shadow(x, i->a), b = shadow(x, i->b);
  set_shadow(x, i->d, (a | b) & ~(~a & zero_a) & ~(~b & zero_b));
  return i + 1;
}
const op* unset_and_predicates(context& x, const op* i) {
  return and_shadow(x, i, ~x.predicate(i->c), ~x.predicate(i->slot));
}
template <class T>
const op* unset_and(context& x, const op* i) {
  return and_shadow(x, i, zero_lanes<T>(x, i->c), zero_lanes<T>(x, i->slot));
}

// a, b: shadows of the two values, c: of the predicate that chooses; slot: the predicate.
const op* unset_select(context& x, const op* i) {
  const u32 first = x.predicate(i->slot) ^ (i->immediate != 0 ? all_lanes : 0);
  set_shadow(x, i->d, (shadow(x, i->a) & first) | (shadow(x, i->b) & ~first) | shadow(x, i->c));
  return i + 1;
}
// b: a predicate; it leaves the decision to the value if it holds (immediate 0), if it does not (1)
// or in any case (2).
const op* unset_if(context& x, const op* i) {
  const u32 p = x.predicate(i->b);
  set_shadow(x, i->d,
             shadow(x, i->a) & (i->immediate == 0   ? p
                                : i->immediate == 1 ? ~p
                                                    : all_lanes));
  return i + 1;
}

// a: the shadow of the values that the lanes gave; b and c: the shuffle's operands; immediate: its
// sync_kind.
const op* unset_shuffled(context& x, const op* i) {
  const u32 given = x.predicate(i->a);
  u32 unset = 0;
  for (u32 m = given != 0 ? x.active : 0; m != 0; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const u32 b = x.vreg<u32>(i->b)[l], c = x.vreg<u32>(i->c)[l];
    const int segment = static_cast<int>((c >> 8) & 31), offset = static_cast<int>(b & 31);
    const int bound = (l & segment) | (static_cast<int>(c & 31) & ~segment);
    int from = 0;
    switch (static_cast<sync_kind>(i->immediate)) {
      case sync_kind::shfl_up:
        from = l - offset >= bound ? l - offset : l;
        break;
      case sync_kind::shfl_down:
        from = l + offset <= bound ? l + offset : l;
        break;
      case sync_kind::shfl_bfly:
        from = (l ^ offset) <= bound ? l ^ offset : l;
        break;
      default:
        from = (l & segment) | (offset & ~segment);
        if (from > bound) from = l;
        break;
    }
    unset |= ((given >> from) & 1) << l;
  }
  set_shadow(x, i->d, unset);
  return i + 1;
}

const op* unset_loaded(context& x, const op* i) {
  const u32 unset =
      x.watch == nullptr
          ? 0
          : x.watch->loaded_unset(x.owner->warp_index(), static_cast<unsigned>(i->immediate)) &
                x.active;
  set_shadow(x, i->d, unset);
  if (unset != 0 && i->slot != no_operand)
    x.watch->read_unset({x.owner->warp_index(), unset, i}, i->slot);
  return i + 1;
}
const op* unset_read(context& x, const op* i) {
  const u32 unset = shadow(x, i->a) & x.active;
  if (unset != 0 && x.watch != nullptr)
    x.watch->read_unset({x.owner->warp_index(), unset, i}, i->slot);
  return i + 1;
}
const op* unset_used(context& x, const op* i) {
  const u32 unset = shadow(x, i->a) & x.active;
  if (unset != 0 && x.watch != nullptr)
    x.watch->used_unset({x.owner->warp_index(), unset, i}, i->slot, i->immediate != 0);
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
  add_op(t, "<watch step>", &watch_step, none, b64, none, none);
  add_op(t, "<watch path>", &watch_path, none, none, none, none);
  add_op(t, "<watch path indexed>", &watch_path_indexed, none, b32, none, none);
  add_op(t, "<watch fence>", &watch_fence, none, none, none, none);
  add_op(t, "<unset begin>", &unset_begin, none, none, none, none);
  add_op(t, "<unset any>", &unset_any, none, none, none, none);
  add_op(t, "<unset all>", &unset_all, none, none, none, none);
  add_op(t, "<unset difference>", &unset_difference, none, none, none, none);
  add_op(t, "<unset and.pred>", &unset_and_predicates, none, none, none, none);
  add_op(t, "<unset and.b16>", &unset_and<u16>, none, none, none, none);
  add_op(t, "<unset and.b32>", &unset_and<u32>, none, none, none, none);
  add_op(t, "<unset and.b64>", &unset_and<u64>, none, none, none, none);
  add_op(t, "<unset select>", &unset_select, none, none, none, none);
  add_op(t, "<unset if>", &unset_if, none, none, none, none);
  add_op(t, "<unset shuffled>", &unset_shuffled, none, none, none, none);
  add_op(t, "<unset loaded>", &unset_loaded, none, none, none, none);
  add_op(t, "<unset read>", &unset_read, none, none, none, none);
  add_op(t, "<unset used>", &unset_used, none, none, none, none);
}

}  // namespace stepwise::emulator
