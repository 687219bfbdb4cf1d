// Where threads wait for each other: barriers that not all reach, masks, deadlocks.
#include <algorithm>

#include "common/emulator/check/checker.hpp"

namespace stepwise::emulator {
namespace {

std::string threads(std::uint32_t n) {
  return std::to_string(n) + (n == 1 ? " thread" : " threads");
}

}  // namespace

void checker::reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) {
  order_.reached_barrier(state().clock, e, id, !arrive_only);
  state().arrivals[id].push_back({e.warp, e.lanes, e.at, aligned});
}

void checker::released_barrier(unsigned id, bool whole_block) {
  check_arrivals(id, whole_block);
  order_.released_barrier(state().clock, id, whole_block);
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

void checker::different_barriers(const block_state::arrival& one, const block_state::arrival& other,
                                 bool same_warp) {
  state().met_apart = true;
  const finding_key k =
      key(finding_kind::barrier_divergence, std::min(place_number(one.at), place_number(other.at)),
          std::max(place_number(one.at), place_number(other.at)), 0);
  if (!log_.is_new(k)) return;
  finding f;
  f.kind = finding_kind::barrier_divergence;
  f.parties.push_back(party(one.at, one.warp, first_lane(one.lanes), "waits at this barrier"));
  f.parties.push_back(party(other.at, other.warp, first_lane(other.lanes), "waits at this one"));
  const code_place &here = f.parties[0].at, &there = f.parties[1].at;
  const bool same_line = here.line != 0 && here.line == there.line && here.file == there.file;
  f.message =
      std::string("threads of one ") + (same_warp ? "warp" : "block") +
      (same_line
           ? " wait at this barrier in different passes of a loop"
           : " wait at different barriers, and each mistakes the other's barrier for its own");
  // A thread that waits at the other one has missed this one, or the other way round.
  auto by = parting_of(one.at, one.warp, first_lane(one.lanes), other.warp, other.lanes);
  const bool first_missed = by.has_value();
  if (!by) by = parting_of(other.at, other.warp, first_lane(other.lanes), one.warp, one.lanes);
  if (by && by->how != way_past::unknown) {
    const parting_words words = words_of(*by);
    const int line = (first_missed ? here : there).line;
    f.message += same_line ? ": " + words.why
                           : "; look at that of line " + std::to_string(line) + ": " + words.why;
    f.advice = words.advice;
  } else {
    f.advice =
        "Let all threads of the block reach the same __syncthreads(): move it out of the condition "
        "or the loop.";
  }
  f.origin = launch_origin_;
  log_.add(k, std::move(f));
}

void checker::missed_barrier(const block_state::arrival& waits) {
  block_state& b = state();
  for (std::uint32_t w = 0; w < b.turnings.size() && !b.left_at; ++w)
    b.left_at =
        parting_of(waits.at, waits.warp, first_lane(waits.lanes), w, ~b.now->warps[w].alive);
  // A thread that took another barrier for this one has been one barrier ahead since.
  if (!b.left_at && b.met_apart) return;
  const warp_event& gone = *b.first_exit;
  const finding_key k = key(finding_kind::exited_at_barrier, place_number(waits.at),
                            place_number(b.left_at ? b.left_at->at : gone.at), 0);
  if (!log_.is_new(k)) return;
  finding f;
  f.kind = finding_kind::exited_at_barrier;
  f.message = threads(b.exited) + " of the block " +
              (b.exited == 1 ? "does not reach the barrier" : "do not reach the barrier");
  f.parties.push_back(
      party(waits.at, waits.warp, first_lane(waits.lanes), "waits at this barrier"));
  if (b.left_at) {
    const parting_words words = words_of(*b.left_at);
    f.message += ": " + words.why;
    f.parties.push_back(party(b.left_at->at, b.left_at->warp, b.left_at->lane, words.action));
    f.advice = words.advice;
  } else {
    f.message += ": " + std::string(b.exited == 1 ? "it has" : "they have") + " left the kernel";
    f.parties.push_back(party(gone.at, gone.warp, first_lane(gone.lanes), "has left the kernel"));
    f.advice = no_parting_advice();
  }
  f.origin = launch_origin_;
  log_.add(k, std::move(f));
}

void checker::exited(const warp_event& e) {
  if (!state().first_exit) state().first_exit = e;
  state().exited += count_of(e.lanes);
}

void checker::reached_warp_wide(const warp_event& e, std::uint32_t members) {
  const std::uint32_t outside = e.lanes & ~members;
  if (outside == 0) return;
  const finding_key k = key(finding_kind::bad_mask, place_number(e.at), -1, 0);
  if (!log_.is_new(k, count_of(outside))) return;
  char mask[16];
  std::snprintf(mask, sizeof mask, "0x%08x", members);
  finding f;
  f.kind = finding_kind::bad_mask;
  f.message = "a thread takes part in a warp-wide operation whose mask " + std::string(mask) +
              " does not name it (lane " + std::to_string(first_lane(outside)) + ")";
  f.parties.push_back(party(e.at, e.warp, first_lane(outside), "executes this"));
  f.count = count_of(outside);
  f.advice = "The mask must have the bit of every lane that executes the operation.";
  f.origin = launch_origin_;
  log_.add(k, std::move(f));
}

void checker::read_inactive_lane(const warp_event& e, int lane, int source) {
  const finding_key k = key(finding_kind::inactive_source, place_number(e.at), -1, 0);
  if (!log_.is_new(k)) return;
  finding f;
  f.kind = finding_kind::inactive_source;
  f.message = "a shuffle reads from lane " + std::to_string(source) +
              ", which takes no part in it: the value is undefined";
  f.parties.push_back(party(e.at, e.warp, lane, "reads lane " + std::to_string(source)));
  f.advice = "Let all lanes that are read from execute the shuffle, and name them in the mask.";
  f.origin = launch_origin_;
  log_.add(k, std::move(f));
}

void checker::in_deadlock(const block& b) {
  finding f;
  f.kind = finding_kind::deadlock;
  f.message = "no thread of block " + std::to_string(b.index) + " can go on";
  const auto tell = [&](const split& s, std::uint32_t warp, const std::string& where) {
    const std::string action =
        threads(count_of(s.mask)) + " of warp " + std::to_string(warp) + " wait at " + where;
    const bool known = std::ranges::any_of(f.parties, [&](const finding_party& p) {
      return p.at.line == places_.of(*code_, s.at).line && p.action == action;
    });
    if (f.parties.size() < 4 && !known)
      f.parties.push_back(party(s.at, warp, first_lane(s.mask), action));
  };
  // Lanes that a mask names and that wait at a barrier instead are the usual mistake.
  for (std::uint32_t n = 0; n < b.warps.size(); ++n) {
    for (const auto& p : b.warps[n].parked) {
      char mask[16];
      std::snprintf(mask, sizeof mask, "0x%08x", p.members);
      tell(p.waiting, n, "a warp-wide operation with mask " + std::string(mask));
    }
  }
  const bool in_warp = !f.parties.empty();
  for (std::uint32_t n = 0; n < b.warps.size(); ++n) {
    for (const auto& w : b.warps[n].at_barrier)
      tell(w.waiting, n,
           w.barrier == cluster_barrier ? "the cluster's barrier"
                                        : "barrier " + std::to_string(w.barrier));
  }
  if (!f.parties.empty()) f.message += ": " + f.parties.front().action;
  f.advice = in_warp ? "Every lane that the mask names must execute the operation: take it out of "
                       "the condition, and use its result there."
                     : "Some threads wait for one that never arrives: every thread that a barrier "
                       "or mask names must reach it.";
  f.origin = launch_origin_;
  const finding_key k = key(f.kind, -1, -1, 0);
  if (log_.is_new(k)) log_.add(k, std::move(f));
}

void checker::out_of_time(const warp_event& e) {
  const finding_key k = key(finding_kind::endless, -1, -1, 0);
  if (!log_.is_new(k)) return;
  finding f;
  f.kind = finding_kind::endless;
  f.message = "the kernel is still running after the time limit";
  f.parties.push_back(party(e.at, e.warp, first_lane(e.lanes), "is here"));
  f.advice =
      "Does every loop end? If it does: does every thread do all of the work, where it should do "
      "its share?";
  f.origin = launch_origin_;
  log_.add(k, std::move(f));
}

void checker::faulted(const warp_event& e, error code, const std::string& what, int lane) {
  if (instruction_of(e.at) == told_) return;
  finding f;
  f.kind = code == error::misaligned_address                 ? finding_kind::misaligned
           : what.find("out of bounds") != std::string::npos ? finding_kind::out_of_bounds
                                                             : finding_kind::failed;
  f.message = what;
  f.parties.push_back(party(e.at, e.warp, lane, "is where the launch was stopped"));
  f.origin = launch_origin_;
  const finding_key k = key(f.kind, place_number(e.at), -1, 0);
  if (log_.is_new(k)) log_.add(k, std::move(f));
}

}  // namespace stepwise::emulator
