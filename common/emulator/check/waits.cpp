// Where threads wait for each other; findings.cpp says what is wrong with it.
#include <algorithm>

#include "common/emulator/check/checker.hpp"

namespace stepwise::emulator {
void checker::reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) {
  order_.reached_barrier(state().clock, e, id, !arrive_only);
  state().arrivals[id].push_back({e.warp, e.lanes, e.at, aligned});
}

void checker::released_barrier(unsigned id, bool whole_block) {
  check_arrivals(id, whole_block);
  order_.released_barrier(state().clock, id, whole_block);
  if (whole_block) state().bulk.all_met();
  auto& arrivals = state().arrivals[id];
  const bool met =
      std::ranges::all_of(arrivals, [&](const auto& a) { return a.at == arrivals.front().at; });
  if (whole_block && met) forget_turnings();
  arrivals.clear();
}

// A barrier releases. Were all at the same one, and did all threads arrive?
void checker::check_arrivals(unsigned id, bool whole_block) {
  const auto& arrivals = state().arrivals[id];
  if (arrivals.empty()) return;
  const auto& first = arrivals.front();
  const bool counted = code_->barriers[first.at->slot].count != no_row;
  for (const auto& a : arrivals) {
    if (a.at == first.at || !a.aligned || !first.aligned) continue;
    // Warps may meet at different places of the code only at a barrier with a count of threads.
    const bool same_warp = std::ranges::any_of(
        arrivals, [&](const auto& other) { return other.warp == a.warp && other.at != a.at; });
    if (!counted || same_warp) different_barriers(first, a, same_warp);
  }
  if (!counted && whole_block && state().exited != 0 && state().first_exit) missed_barrier(first);
}

void checker::exited(const warp_event& e) {
  if (!state().first_exit) state().first_exit = e;
  state().exited += count_of(e.lanes);
}

}  // namespace stepwise::emulator
