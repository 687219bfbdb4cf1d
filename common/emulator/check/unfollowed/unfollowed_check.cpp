// Reports what the checks cannot judge, so that silence is not taken for a verdict. This is rare,
// so the file is compiled with less optimisation.
#include "common/emulator/check/unfollowed/unfollowed_check.hpp"

#include <cstring>

#include "common/emulator/check/unfollowed/early_access.hpp"
#include "common/emulator/machine/async.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

// The reasons. Each gives one finding per kernel and place.
enum reason : std::int64_t { bulk_store, early_start, early_use, refilled, never_awaited };

bool is_bulk_store(const ptx::instruction& i) {
  return i.opcode == "cp" && ptx::has_modifier(i, "bulk_group");
}

constexpr const char* advice_to_wait =
    "Let each thread that uses the tile wait for the copy's mbarrier, or put __syncthreads() after "
    "the wait of one thread.";

}  // namespace

void unfollowed_check::not_followed(std::int64_t why, std::int64_t where, code_place at,
                                    std::string action, std::string message, const char* advice) {
  const finding_key k = evidence_.key(finding_kind::not_followed, why, where, 0);
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::not_followed;
  f.message = std::move(message);
  finding_party p;
  p.kernel = evidence_.kernel_name();
  p.action = std::move(action);
  p.at = std::move(at);
  p.has_thread = false;
  f.parties.push_back(std::move(p));
  f.advice = advice;
  f.origin = evidence_.launch_origin;
  evidence_.log.add(k, std::move(f));
}

void unfollowed_check::begin_launch(const launch_info&) {
  last_write_ = {};
  if (evidence_.config->may_begin_early) {
    const ptx::body& body = *evidence_.code->functions[0].body;
    if (const auto early =
            access_before_wait(body, evidence_.flow_of(evidence_.code->functions[0]).flow)) {
      const auto number = static_cast<std::int32_t>(*early);
      not_followed(
          early_start, number, evidence_.source.of(*evidence_.code, 0, number), "uses memory here",
          evidence_.kernel_name() +
              " may begin before the preceding kernel has ended, and the "
              "checks do not follow its memory accesses before griddepcontrol.wait",
          "Call cudaGridDependencySynchronize() before the first access to global memory.");
    }
  }
  if (!evidence_.code->writes_in_bulk) return;
  for (std::uint32_t f = 0; f < evidence_.code->functions.size(); ++f) {
    const auto& all = evidence_.code->functions[f].body->instructions;
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (!is_bulk_store(all[n])) continue;
      const auto number = static_cast<std::int32_t>(n);
      not_followed(bulk_store, static_cast<std::int64_t>(f) << 32 | number,
                   evidence_.source.of(*evidence_.code, f, number), "copies in bulk",
                   "the checks do not follow bulk copies to global memory, so it is not known "
                   "whether " +
                       evidence_.kernel_name() + " fences its writes and waits for its copies",
                   "");
    }
  }
}

status unfollowed_check::end_launch(const status& failure) {
  loads_.end_launch();
  return failure;
}

void unfollowed_check::begin_block(const block& b) { loads_.begin(b).clear(); }

void unfollowed_check::released_barrier(unsigned, bool whole_block) {
  if (whole_block) loads_.current().all_met();
}

void unfollowed_check::saw_phase(const warp_event& e, int lane, std::uint64_t shared_offset) {
  loads_.current().saw(shared_offset, phase_parity(shared_offset), e.warp, lane,
                       evidence_.running().clock.warps[e.warp].now);
}

// Follows the bulk copy's write, which access_range() reports.
void unfollowed_check::arrived_at(const warp_event& e, int lane, std::uint64_t barrier) {
  const written_range w = std::exchange(last_write_, {});
  if (w.at != e.at || w.warp != e.warp || w.lane != lane) return;
  if (loads_.current().add(w.first, w.bytes, barrier, phase_parity(barrier))) return;
  not_followed(refilled, evidence_.place_number(e.at), evidence_.source.of(*evidence_.code, e.at),
               "copies in bulk",
               "the checks do not see " + evidence_.kernel_name() +
                   " wait for a bulk copy to shared memory before the next copy to the same place",
               advice_to_wait);
}

unsigned unfollowed_check::phase_parity(std::uint64_t barrier) const {
  std::uint64_t word = 0;
  if (barrier + sizeof word > evidence_.state->shared_bytes) return 0;
  std::memcpy(&word, evidence_.state->shared + barrier, sizeof word);
  return static_cast<unsigned>(word >> mbarrier_parity_at) & 1;
}

void unfollowed_check::use(const op* at, std::uint32_t warp, int lane, std::uint64_t first,
                           std::uint64_t bytes) {
  const block_clock& clock = evidence_.running().clock;
  const auto is_known = [&](const bulk_loads::observation& s) {
    return evidence_.sequence.unordered(clock, clock.first_warp + warp, lane, s.when,
                                        clock.first_warp + s.warp, s.lanes) != s.lanes;
  };
  if (loads_.current().knows(first, bytes, warp, lane, is_known)) return;
  not_followed(early_use, evidence_.place_number(at), evidence_.source.of(*evidence_.code, at),
               "uses shared memory",
               "the checks do not see the threads of " + evidence_.kernel_name() +
                   " wait for a bulk copy before they use its data",
               advice_to_wait);
  loads_.current().clear();  // one such use is enough to report
}

void unfollowed_check::use(const access_event& e) {
  for (std::uint32_t l = e.active; l != 0; l &= l - 1) {
    const int lane = __builtin_ctz(l);
    use(e.at, e.warp, lane, e.address[lane], e.site->bytes);
  }
}

// Reports copies that no thread waited for, unless the block was cut short.
void unfollowed_check::end_block(const block& b) {
  if (b.alive == 0 && loads_.of(b).any_unseen())
    not_followed(
        never_awaited, -1, {}, "ends",
        "the checks do not see " + evidence_.kernel_name() + " wait for all of its bulk copies",
        advice_to_wait);
}

}  // namespace stepwise::emulator
