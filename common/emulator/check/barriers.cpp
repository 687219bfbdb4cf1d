// Records where threads wait for each other. barrier_findings.cpp describes the mistakes.
#include "common/emulator/check/barriers.hpp"

#include <algorithm>

namespace stepwise::emulator {

status barrier_check::end_launch(const status& failure) {
  blocks_.end_launch();
  return failure;
}

void barrier_check::begin_block(const block& b) {
  block_waits& w = blocks_.begin(b);
  for (auto& a : w.arrivals) a.clear();
  w.first_exit.reset();
  w.exited = 0;
  w.met_apart = false;
  w.taken_branches.resize(evidence_.block_warps);
  for (auto& t : w.taken_branches) t.clear();
  w.has_taken_branches = false;
  w.left_at.reset();
}

void barrier_check::reached_barrier(const warp_event& e, unsigned id, bool, bool aligned) {
  state().arrivals[id].push_back({e.warp, e.lanes, e.at, aligned});
}

void barrier_check::released_barrier(unsigned id, bool whole_block) {
  check_arrivals(id, whole_block);
  auto& arrivals = state().arrivals[id];
  const bool met =
      std::ranges::all_of(arrivals, [&](const auto& a) { return a.at == arrivals.front().at; });
  if (whole_block && met) forget_taken_branches();
  arrivals.clear();
}

// Checks a barrier that releases: did all threads arrive, and all at the same barrier?
void barrier_check::check_arrivals(unsigned id, bool whole_block) {
  const auto& arrivals = state().arrivals[id];
  if (arrivals.empty()) return;
  const auto& first = arrivals.front();
  const bool counted = evidence_.code->barriers[first.at->slot].count != no_operand;
  for (const auto& a : arrivals) {
    if (a.at == first.at || !a.aligned || !first.aligned) continue;
    // Different warps may arrive at different instructions only if the barrier has a thread count.
    const bool same_warp = std::ranges::any_of(
        arrivals, [&](const auto& other) { return other.warp == a.warp && other.at != a.at; });
    if (!counted || same_warp) different_barriers(first, a, same_warp);
  }
  if (!counted && whole_block && state().exited != 0 && state().first_exit) missed_barrier(first);
}

void barrier_check::exited(const warp_event& e) {
  if (!state().first_exit) state().first_exit = e;
  state().exited += count_of(e.lanes);
}

}  // namespace stepwise::emulator
