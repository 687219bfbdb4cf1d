// Describes barriers that some threads miss, wrong masks, deadlocks and launches that never end.
#include <algorithm>

#include "common/emulator/check/barriers.hpp"
#include "common/emulator/machine/async.hpp"
#include "common/emulator/machine/standstill.hpp"
#include "common/emulator/run/register_pool.hpp"

namespace stepwise::emulator {
namespace {

std::string threads(std::uint32_t n) {
  return std::to_string(n) + (n == 1 ? " thread" : " threads");
}

// The arrivals and bytes that an mbarrier's phase still lacks.
struct missing {
  std::int64_t arrivals, of_arrivals, bytes;  // bytes < 0: more were copied than announced
};
missing missing_in(std::uint64_t word) {
  const auto field = [&](int at) {
    return static_cast<std::int64_t>(word >> at & most_mbarrier_count);
  };
  return {field(mbarrier_pending_at), field(0),
          static_cast<std::int64_t>(word << (64 - mbarrier_parity_at)) >>
              (64 - mbarrier_parity_at + mbarrier_bytes_at)};
}

// The advice if the phase of an awaited mbarrier lacks arrivals.
std::string advice_for_arrivals(const missing& m, const mbarrier_uses::phase& now,
                                bool has_arrivals) {
  const bool is_untouched = m.arrivals == m.of_arrivals && m.bytes == 0;
  if (is_untouched && now.number == now.seen + 1)
    return "The parity is probably wrong: a phase has ended, and no thread has waited for it. The "
           "first phase has parity 0, and then the parity changes with every phase. If the parity "
           "is right, more threads arrive than mbarrier.init specifies.";
  if (is_untouched && now.number > now.seen + 1)
    return "Phases have ended, and no thread has waited for them. The count in mbarrier.init must "
           "equal the number of arrivals per phase, from all blocks that arrive. No thread may "
           "arrive for the next round before the others have waited for this one.";
  if (!has_arrivals)
    return "Which thread should arrive there? That thread may itself be waiting, may have exited, "
           "or may use another mbarrier. If this wait should return at once because the stage is "
           "free at first, wait for parity 1.";
  return "The count in mbarrier.init must equal the number of arrivals per phase, from all blocks "
         "that arrive. Every counted thread must arrive in every phase (in a pipeline, call "
         "consumer_release() in every iteration) before it exits.";
}

// Adds the arrivals and bytes that the awaited mbarrier lacks, and the lines that arrived there.
void add_missing(finding& f, const missing& m, const mbarrier_uses::phase& now,
                 std::vector<finding_party> arrivals) {
  if (m.arrivals == 0 && m.bytes == 0) return;
  f.message += ", an mbarrier whose phase lacks ";
  if (m.arrivals != 0)
    f.message += std::to_string(m.arrivals) + " of " + std::to_string(m.of_arrivals) + " arrivals";
  const bool is_known = now.announced - now.received == m.bytes;
  if (m.bytes > 0)
    f.message += (m.arrivals != 0 ? " and " : "") + std::to_string(m.bytes) +
                 (is_known && now.received != 0 ? " of " + std::to_string(now.announced) : "") +
                 " announced bytes";
  if (m.bytes < 0)
    f.message += std::string(m.arrivals != 0 ? " and " : "") + "the announcement of " +
                 std::to_string(-m.bytes) + " bytes that were copied";
  if (arrivals.empty()) f.message += "; no thread or copy has arrived at it";
  f.advice =
      m.bytes < 0 ? "Each block that receives a copy must announce the bytes at its own mbarrier "
                    "(expect_tx), and arrive there as many times as mbarrier.init specifies."
      : m.arrivals != 0 ? advice_for_arrivals(m, now, !arrivals.empty())
                        : "expect_tx must announce exactly the bytes that the copies write. Count "
                          "whole boxes of a tensor map, and count bytes, not elements.";
  for (finding_party& p : arrivals) f.parties.push_back(std::move(p));
}

// Adds the description of a wait for registers, if there is one.
void add_registers(finding& f, const std::string& words) {
  if (words.empty()) return;
  f.message += "; " + words;
  f.advice =
      "A block never gets more registers than it began with. Let other warps free more registers "
      "with setmaxnreg.dec before they exit, or ask for fewer with setmaxnreg.inc.";
}

}  // namespace

void barrier_check::reached_warp_wide(const warp_event& e, std::uint32_t members) {
  const std::uint32_t outside = e.lanes & ~members;
  if (outside == 0) return;
  const finding_key k = evidence_.key(finding_kind::bad_mask, evidence_.place_number(e.at), -1, 0);
  if (!evidence_.log.is_new(k, count_of(outside))) return;
  char mask[16];
  std::snprintf(mask, sizeof mask, "0x%08x", members);
  finding f;
  f.kind = finding_kind::bad_mask;
  f.message = "a thread takes part in a warp-wide operation whose mask " + std::string(mask) +
              " does not name it (lane " + std::to_string(first_lane(outside)) + ")";
  f.parties.push_back(evidence_.party(e.at, e.warp, first_lane(outside), "executes this"));
  f.count = count_of(outside);
  f.advice = "The mask must have the bit of every lane that executes the operation.";
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

void barrier_check::different_barriers(const arrival& one, const arrival& other, bool same_warp) {
  state().met_apart = true;
  const finding_key k =
      evidence_.key(finding_kind::barrier_divergence,
                    std::min(evidence_.place_number(one.at), evidence_.place_number(other.at)),
                    std::max(evidence_.place_number(one.at), evidence_.place_number(other.at)), 0);
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::barrier_divergence;
  f.parties.push_back(
      evidence_.party(one.at, one.warp, first_lane(one.lanes), "waits at this barrier"));
  f.parties.push_back(
      evidence_.party(other.at, other.warp, first_lane(other.lanes), "waits at this one"));
  const code_place &here = f.parties[0].at, &there = f.parties[1].at;
  const bool same_line = here.line != 0 && here.line == there.line && here.file == there.file;
  f.message =
      std::string("threads of one ") + (same_warp ? "warp" : "block") +
      (same_line
           ? " wait at this barrier in different passes of a loop"
           : " wait at different barriers, and each mistakes the other's barrier for its own");
  // Either a thread at the second barrier has missed the first one, or the other way round.
  auto by = divergence_of(one.at, one.warp, first_lane(one.lanes), other.warp, other.lanes);
  const bool first_missed = by.has_value();
  if (!by) by = divergence_of(other.at, other.warp, first_lane(other.lanes), one.warp, one.lanes);
  if (by && by->how != way_past::unknown) {
    const divergence_words words = words_of(*by);
    const int line = (first_missed ? here : there).line;
    f.message += same_line
                     ? ": " + words.why
                     : "; look at the barrier at line " + std::to_string(line) + ": " + words.why;
    f.advice = words.advice;
  } else {
    f.advice =
        "Let all threads of the block reach the same __syncthreads(): move it out of the condition "
        "or the loop.";
  }
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

void barrier_check::missed_barrier(const arrival& waits) {
  block_waits& b = state();
  for (std::uint32_t w = 0; w < b.taken_branches.size() && !b.left_at; ++w)
    b.left_at = divergence_of(waits.at, waits.warp, first_lane(waits.lanes), w, ~alive(w));
  // Threads that were released at different barriers stay one barrier apart, as already reported.
  if (!b.left_at && b.met_apart) return;
  const warp_event& gone = *b.first_exit;
  const finding_key k =
      evidence_.key(finding_kind::exited_at_barrier, evidence_.place_number(waits.at),
                    evidence_.place_number(b.left_at ? b.left_at->at : gone.at), 0);
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::exited_at_barrier;
  f.message = threads(b.exited) + " of the block " +
              (b.exited == 1 ? "does not reach the barrier" : "do not reach the barrier");
  f.parties.push_back(
      evidence_.party(waits.at, waits.warp, first_lane(waits.lanes), "waits at this barrier"));
  if (b.left_at) {
    const divergence_words words = words_of(*b.left_at);
    f.message += ": " + words.why;
    f.parties.push_back(
        evidence_.party(b.left_at->at, b.left_at->warp, b.left_at->lane, words.action));
    f.advice = words.advice;
  } else {
    f.message += ": " + std::string(b.exited == 1 ? "it has" : "they have") + " left the kernel";
    f.parties.push_back(
        evidence_.party(gone.at, gone.warp, first_lane(gone.lanes), "has left the kernel"));
    f.advice = general_advice();
  }
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

void barrier_check::read_inactive_lane(const warp_event& e, int lane, int source) {
  const finding_key k =
      evidence_.key(finding_kind::inactive_source, evidence_.place_number(e.at), -1, 0);
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::inactive_source;
  f.message = "a shuffle reads from lane " + std::to_string(source) +
              ", which takes no part in it: the value is undefined";
  f.parties.push_back(evidence_.party(e.at, e.warp, lane, "reads lane " + std::to_string(source)));
  f.advice = "Let all lanes that are read from execute the shuffle, and name them in the mask.";
  constexpr std::uint64_t lanes = 32;
  const std::uint64_t threads = volume(evidence_.config->block), last = threads % lanes;
  if (last != 0 && e.warp == threads / lanes && static_cast<std::uint64_t>(source) >= last)
    f.advice = "The block has " + std::to_string(threads) + " threads, so its last warp has only " +
               std::to_string(last) + ": make the size of the block a multiple of 32.";
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

void barrier_check::in_deadlock(const block& b) {
  finding f;
  f.kind = finding_kind::deadlock;
  f.message = "no thread of block " + std::to_string(b.index) + " can continue";
  constexpr std::size_t most_parties = 4;
  const auto add_party = [&](const split& s, std::uint32_t warp, std::string action) {
    if (f.parties.size() < most_parties)
      f.parties.push_back(evidence_.party(s.at, warp, first_lane(s.mask), std::move(action)));
  };
  // The usual mistake is that a mask names lanes that wait at a barrier instead.
  for (std::uint32_t n = 0; n < b.warps.size(); ++n) {
    for (const auto& p : b.warps[n].parked) {
      char mask[16];
      std::snprintf(mask, sizeof mask, "0x%08x", p.members);
      add_party(p.waiting, n,
                threads(count_of(p.waiting.mask)) + " of warp " + std::to_string(n) +
                    " wait at a warp-wide operation with mask " + mask);
    }
  }
  const bool in_warp = !f.parties.empty();
  // The threads that wait at one line for the same reason, and the first of them.
  struct waiting_threads {
    const split* first;
    std::uint32_t warp, threads;
    unsigned barrier;
  };
  std::vector<waiting_threads> waits;
  const auto add_wait = [&](const split& s, std::uint32_t warp, unsigned barrier) {
    const auto same = std::ranges::find_if(waits, [&](const waiting_threads& w) {
      return w.barrier == barrier && evidence_.source.of(*evidence_.code, w.first->at).line ==
                                         evidence_.source.of(*evidence_.code, s.at).line;
    });
    if (same == waits.end())
      waits.push_back({&s, warp, count_of(s.mask), barrier});
    else
      same->threads += count_of(s.mask);
  };
  for (std::uint32_t n = 0; n < b.warps.size(); ++n)
    for (const auto& w : b.warps[n].at_barrier) add_wait(w.waiting, n, w.barrier);
  // A wait for registers explains the others, and most threads at the cluster's barrier only wait
  // for the rest of the block.
  std::ranges::stable_partition(
      waits, [](const waiting_threads& w) { return w.barrier != cluster_barrier; });
  std::ranges::stable_partition(
      waits, [](const waiting_threads& w) { return w.barrier == register_wait; });
  for (const waiting_threads& w : waits)
    add_party(*w.first, w.warp,
              threads(w.threads) + (w.threads == 1 ? " waits at " : " wait at ") +
                  name_of_wait(w.barrier));
  if (!f.parties.empty()) f.message += ": " + f.parties.front().action;
  f.advice = in_warp ? "Every lane that the mask names must execute the operation: take it out of "
                       "the condition, and use its result there."
                     : "Some threads wait for one that never arrives: every thread that a barrier "
                       "or mask names must reach it.";
  const bool in_wgmma =
      std::ranges::any_of(
          waits, [](const waiting_threads& w) { return w.barrier == warpgroup_barrier; }) ||
      std::ranges::any_of(b.warps, [&](const warp& w) {
        return std::ranges::any_of(w.parked, [&](const auto& p) {
          const auto [function, n] = evidence_.instruction_of(p.waiting.at);
          return n >= 0 &&
                 function->body->instructions[static_cast<std::size_t>(n)].opcode == "wgmma";
        });
      });
  if (in_wgmma) f.advice = advice_for_warpgroup;
  const auto named = std::ranges::find_if(waits, [&](const waiting_threads& w) {
    return w.barrier < std::size(b.barriers) && b.barriers[w.barrier].expected > b.alive;
  });
  if (!in_warp && !in_wgmma && named != waits.end()) {
    f.message += ", which is a barrier for " + threads(b.barriers[named->barrier].expected);
    const auto all = static_cast<std::uint32_t>(volume(evidence_.config->block));
    f.advice = all == b.alive
                   ? "The block has only " + threads(all) +
                         ": the barrier's count must equal the number of threads that reach it."
                   : threads(all - b.alive) + " of the block " +
                         (all - b.alive == 1 ? "has" : "have") +
                         " exited and will never arrive: let them reach the barrier before they "
                         "return, or count only the threads that reach it.";
  }
  const auto partial = std::ranges::find_if(waits, [&](const waiting_threads& w) {
    return w.barrier < std::size(b.barriers) && b.barriers[w.barrier].expected != 0;
  });
  if (!in_warp && !in_wgmma && named == waits.end() && partial == waits.begin() &&
      partial != waits.end()) {
    f.message += ", which is a barrier for " + threads(b.barriers[partial->barrier].expected);
    f.advice =
        "The other threads wait elsewhere, or have passed this barrier with threads of another "
        "group. Let all threads reach the barriers in the same order, and give each group of "
        "threads its own barrier number.";
  }
  add_registers(f, words_about_registers(b, *evidence_.code));
  f.origin = evidence_.launch_origin;
  const finding_key k = evidence_.key(f.kind, -1, -1, 0);
  if (evidence_.log.is_new(k)) evidence_.log.add(k, std::move(f));
}

void barrier_check::does_not_end(const standstill& s, const arrival_parties& arrivals_at) {
  const finding_key k = evidence_.key(finding_kind::endless, -1, -1, 0);
  if (!evidence_.log.is_new(k)) return;
  constexpr std::size_t most_parties = 4;
  finding f;
  f.kind = finding_kind::endless;
  f.origin = evidence_.launch_origin;
  bool only_waits = true;
  const stuck_warps* polls = nullptr;
  for (const stuck_warps& g : s.groups) {
    only_waits = only_waits && g.what != stuck_warps::doing::run;
    const bool is_described = polls == nullptr && g.knows_memory;
    if (is_described) polls = &g;
    if (f.parties.size() >= most_parties && !is_described) continue;
    finding_party p =
        evidence_.party(g.at, 0, 0, emulator::words_of(g, evidence_.config->grid) + " here");
    p.has_thread = false;
    // The message describes the memory that is polled at the first place.
    f.parties.insert(is_described ? f.parties.begin() : f.parties.end(), std::move(p));
    if (f.parties.size() > most_parties) f.parties.pop_back();
  }
  if (!s.is_proven) {
    f.message = "the kernel is still running after the time limit";
    f.advice =
        only_waits
            ? "Which thread should do what these threads wait for, and does it reach that code?"
            : "Does every loop end, including those around this line (is a step 0)? If so, does "
              "each thread do all of the work instead of only its own part?";
    return evidence_.log.add(k, std::move(f));
  }
  const bool is_one = s.threads == 1;
  f.message = "the kernel never ends: " + threads(s.threads);
  if (only_waits) {
    f.message += std::string(is_one ? " waits" : " wait") +
                 ", and no remaining thread can do what " + (is_one ? "it waits" : "they wait") +
                 " for";
    f.advice =
        "Which thread should do it? It must run at the same time, and no condition, early exit or "
        "unreleased lock may keep it from reaching that code.";
  } else {
    f.message += std::string(is_one ? " runs" : " run") + " a loop that never exits";
    f.advice =
        "Which condition ends the loop? A counter may never reach its limit: an unsigned number "
        "never "
        "falls below 0. Read memory that another thread writes through a pointer to volatile or by "
        "an atomic operation. Otherwise the compiler may read it once, before the loop.";
  }
  if (polls != nullptr) {
    const place_in_memory where = polls->space == memory_space::shared
                                      ? evidence_.describe_shared(polls->address, polls->bytes)
                                      : evidence_.describe_global(polls->address, polls->bytes);
    f.object = where.object;
    f.message += (is_one ? "; it polls " : "; they poll ") +
                 (where.object.name.empty() ? where.words : where.object.name);
    if (where.object.name == grid_barrier_name)
      f.advice =
          "Every thread of every block must reach grid.sync(): no thread may return or leave a "
          "loop before it.";
    if (polls->is_mbarrier) {
      const std::uint64_t barrier = polls->address % peer_bytes;
      const checked_block* const b = evidence_.blocks.find(
          [&](const checked_block& known) { return known.clock.index == polls->first_block; });
      add_missing(f, missing_in(polls->word),
                  b != nullptr ? b->mbarriers.at(barrier, polls->word) : mbarrier_uses::phase(),
                  arrivals_at(barrier));
    }
  }
  add_registers(f, s.about_registers);
  if (s.unbegun_blocks != 0 && s.is_full) {
    f.message += "; " + std::to_string(s.unbegun_blocks) +
                 (s.unbegun_blocks == 1 ? " block has" : " blocks have") +
                 " not begun, since no more fit on the GPU at once";
    f.advice =
        "Blocks that wait for others must all fit on the GPU at once: launch fewer blocks, or "
        "make sure that no block waits for a block with a higher number.";
  }
  evidence_.log.add(k, std::move(f));
}

}  // namespace stepwise::emulator
