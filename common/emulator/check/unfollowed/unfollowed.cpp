// Names what the checks cannot judge, so that silence about it is not taken for a verdict. It
// happens rarely, so this is optimised less.
#include <cstring>

#include "common/emulator/check/checker.hpp"
#include "common/emulator/check/unfollowed/early_access.hpp"
#include "common/emulator/machine/async.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

// Kinds of reasons: one finding for each kernel and place.
enum reason : std::int64_t { bulk_store, early_start, early_use, refilled, never_awaited };

bool is_bulk_store(const ptx::instruction& i) {
  return i.opcode == "cp" && ptx::has_modifier(i, "bulk") && !i.modifiers.empty() &&
         ptx::space_of(i) == ptx::state_space::global && i.operands.size() > 2;
}

constexpr const char* advice_to_wait =
    "Let each thread that uses the tile wait for the copy's mbarrier, or put __syncthreads() after "
    "the wait of one thread.";

}  // namespace

void checker::not_followed(std::int64_t why, std::int64_t where, code_place at, std::string action,
                           std::string message, const char* advice) {
  const finding_key k = key(finding_kind::not_followed, why, where, 0);
  if (!log_.is_new(k)) return;
  finding f;
  f.kind = finding_kind::not_followed;
  f.message = std::move(message);
  finding_party p;
  p.kernel = kernel_name();
  p.action = std::move(action);
  p.at = std::move(at);
  p.has_thread = false;
  f.parties.push_back(std::move(p));
  f.advice = advice;
  f.origin = launch_origin_;
  log_.add(k, std::move(f));
}

void checker::note_unfollowed_launch() {
  if (config_->may_begin_early) {
    const ptx::body& body = *code_->functions[0].body;
    if (const auto early = access_before_wait(body, flow_of(code_->functions[0]).flow)) {
      const auto number = static_cast<std::int32_t>(*early);
      not_followed(
          early_start, number, places_.of(*code_, 0, number), "uses memory here",
          kernel_name() +
              " may begin before the kernel in front of it has ended, and the "
              "checks do not follow its memory accesses before griddepcontrol.wait",
          "Call cudaGridDependencySynchronize() before the first access to global memory.");
    }
  }
  if (!code_->writes_in_bulk) return;
  for (std::uint32_t f = 0; f < code_->functions.size(); ++f) {
    const auto& all = code_->functions[f].body->instructions;
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (!is_bulk_store(all[n])) continue;
      const auto number = static_cast<std::int32_t>(n);
      not_followed(bulk_store, static_cast<std::int64_t>(f) << 32 | number,
                   places_.of(*code_, f, number), "copies in bulk",
                   "the checks do not follow bulk copies to global memory, so it is not known "
                   "whether " +
                       kernel_name() + " fences its writes and waits for its copies",
                   "");
    }
  }
}

// After the bulk copy's write, which access_range() describes.
void checker::note_bulk_load(const warp_event& e, int lane, std::uint64_t barrier) {
  const written_range w = std::exchange(bulk_write_, {});
  if (w.at != e.at || w.warp != e.warp || w.lane != lane) return;
  if (state().bulk.add(w.first, w.bytes, barrier, phase_parity(barrier))) return;
  not_followed(refilled, place_number(e.at), places_.of(*code_, e.at), "copies in bulk",
               "the checks do not see " + kernel_name() +
                   " wait for a bulk copy to shared memory before the next copy to the same place",
               advice_to_wait);
}

unsigned checker::phase_parity(std::uint64_t barrier) const {
  std::uint64_t word = 0;
  if (barrier + sizeof word > context_->shared_bytes) return 0;
  std::memcpy(&word, context_->shared + barrier, sizeof word);
  return static_cast<unsigned>(word >> mbarrier_parity_at) & 1;
}

void checker::use_of_bulk(const op* at, std::uint32_t warp, int lane, std::uint64_t first,
                          std::uint64_t bytes) {
  if (state().bulk.knows(first, bytes, warp, lane)) return;
  not_followed(early_use, place_number(at), places_.of(*code_, at), "uses shared memory",
               "the checks do not see the threads of " + kernel_name() +
                   " wait for a bulk copy before they use its data",
               advice_to_wait);
  state().bulk.clear();  // one such use is enough to say
}

void checker::use_of_bulk(const access_event& e) {
  for (std::uint32_t l = e.active; l != 0; l &= l - 1) {
    const int lane = __builtin_ctz(l);
    use_of_bulk(e.at, e.warp, lane, e.address[lane], e.site->bytes);
  }
}

// A block that ended, and was not cut short.
void checker::end_bulk_loads(const block_state& b) {
  if (b.now->alive != 0 || !b.bulk.any_unseen()) return;
  not_followed(never_awaited, -1, {}, "ends",
               "the checks do not see " + kernel_name() + " wait for all of its bulk copies",
               advice_to_wait);
}

}  // namespace stepwise::emulator
