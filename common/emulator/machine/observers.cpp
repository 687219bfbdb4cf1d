// Passes events on. This code runs for each instruction.
#include "common/emulator/machine/observers.hpp"

#include <algorithm>

namespace stepwise::emulator {

template <class... Parameters, class... Arguments>
void observers::each(void (observer::*event)(Parameters...), const Arguments&... arguments) {
  for (observer* o : all_) (o->*event)(arguments...);
}

void observers::begin_launch(const launch_info& i) { each(&observer::begin_launch, i); }
status observers::end_launch(const status& failure) {
  status s = failure;
  for (observer* o : all_) s = o->end_launch(s);
  return s;
}
bool observers::wants(std::uint64_t block) {
  return std::ranges::all_of(all_, [&](observer* o) { return o->wants(block); });
}
std::int64_t observers::slice() {
  std::int64_t least = slice_instructions;
  for (observer* o : all_) least = std::min(least, o->slice());
  return least;
}
void observers::begin_block(const block& b) { each(&observer::begin_block, b); }
void observers::end_block(const block& b) { each(&observer::end_block, b); }
void observers::switch_to(const block& b) { each(&observer::switch_to, b); }
std::uint32_t observers::access(const access_event& e) {
  std::uint32_t allowed = e.active;
  for (observer* o : all_) {
    if (allowed == e.active) {
      allowed = o->access(e);
    } else {
      access_event shown = e;
      shown.active = allowed;
      allowed = o->access(shown);
    }
  }
  return allowed;
}
void observers::access_range(const warp_event& e, const range_event& r) {
  each(&observer::access_range, e, r);
}
void observers::reached_exited_block(const warp_event& e, const block& owner,
                                     const range_event& r) {
  each(&observer::reached_exited_block, e, owner, r);
}
void observers::executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                         std::uint32_t lanes) {
  each(&observer::executed, warp, first, end, lanes);
}
void observers::diverged(const warp_event& e, std::uint32_t taken) {
  each(&observer::diverged, e, taken);
}
void observers::took_branch(const warp_event& e, std::uint32_t to) {
  each(&observer::took_branch, e, to);
}
void observers::read_unset(const warp_event& e, std::uint32_t origin) {
  each(&observer::read_unset, e, origin);
}
void observers::used_unset(const warp_event& e, std::uint32_t use, bool by_store) {
  each(&observer::used_unset, e, use, by_store);
}
std::uint32_t observers::loaded_unset(std::uint32_t warp, unsigned element) {
  std::uint32_t unset = 0;
  for (observer* o : all_) unset |= o->loaded_unset(warp, element);
  return unset;
}
void observers::reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) {
  each(&observer::reached_barrier, e, id, arrive_only, aligned);
}
void observers::released_barrier(unsigned id, bool whole_block) {
  each(&observer::released_barrier, id, whole_block);
}
void observers::released_cluster_barrier(std::span<block* const> blocks) {
  each(&observer::released_cluster_barrier, blocks);
}
void observers::met_in_warpgroup(std::span<const warp_event> warps) {
  each(&observer::met_in_warpgroup, warps);
}
void observers::warp_met(const warp_event& e, bool orders_memory) {
  each(&observer::warp_met, e, orders_memory);
}
void observers::reached_warp_wide(const warp_event& e, std::uint32_t members) {
  each(&observer::reached_warp_wide, e, members);
}
void observers::met_at_two_places(const warp_event& one, const warp_event& other,
                                  std::uint32_t members) {
  each(&observer::met_at_two_places, one, other, members);
}
void observers::read_inactive_lane(const warp_event& e, int lane, int source) {
  each(&observer::read_inactive_lane, e, lane, source);
}
void observers::fenced(const warp_event& e, memory_order o, sync_scope s) {
  each(&observer::fenced, e, o, s);
}
void observers::exited(const warp_event& e) { each(&observer::exited, e); }
void observers::took_step(const warp_event& e, async_step step, std::int64_t value) {
  each(&observer::took_step, e, step, value);
}
void observers::used_mbarrier(const warp_event& e, const mbarrier_event& m) {
  each(&observer::used_mbarrier, e, m);
}
void observers::does_not_end(const standstill& s) { each(&observer::does_not_end, s); }
void observers::heap_gave(const warp_event& e, int lane, device_address at, std::uint64_t bytes) {
  each(&observer::heap_gave, e, lane, at, bytes);
}
void observers::heap_got(const warp_event& e, int lane, device_address at, bool is_known) {
  each(&observer::heap_got, e, lane, at, is_known);
}
bool observers::interleaves_blocks() {
  return std::ranges::any_of(all_, [](observer* o) { return o->interleaves_blocks(); });
}
bool observers::follows(const block& b, std::uint32_t warp) {
  return std::ranges::any_of(all_, [&](observer* o) { return o->follows(b, warp); });
}
void observers::before(const context& x, const op* i) {
  for (observer* o : all_) o->before(x, i);
}
void observers::after(const context& x, const op* i, const op* next) {
  for (observer* o : all_) o->after(x, i, next);
}
void observers::in_deadlock(const block& b) { each(&observer::in_deadlock, b); }
void observers::faulted(const warp_event& e, error code, const std::string& what, int lane,
                        const std::string& advice) {
  each(&observer::faulted, e, code, what, lane, advice);
}

}  // namespace stepwise::emulator
