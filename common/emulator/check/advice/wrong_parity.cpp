#include "common/emulator/check/advice/wrong_parity.hpp"

namespace stepwise::emulator {

std::string wrong_parity_advice(evidence& all, const access_maker& who) {
  const checked_block& b = all.running();
  const std::uint32_t warp = who.warp - b.clock.first_warp;
  if (warp >= all.block_warps || who.site == no_site) return "";
  const auto* const idle = b.mbarriers.before(warp, who.lane, who.when);
  // A thread that writes may find the memory free, although no phase has ended.
  const bool reads = all.site_at(who.site).kind == access_kind::load;
  if (idle == nullptr || (!idle->is_repeated && !reads)) return "";
  const finding_object barrier = all.describe_shared(idle->barrier, sizeof(std::uint64_t)).object;
  return "The parity is probably wrong: the wait for " +
         (barrier.name.empty() ? "the mbarrier" : barrier.name) +
         (idle->is_repeated ? " returned at once, because the phase that it waited for had "
                              "ended before the thread's previous wait. The parity must change "
                              "each time the thread waits for the mbarrier again."
                            : " returned before any phase had ended. The first phase has parity "
                              "0, and then the parity changes with every phase.");
}

}  // namespace stepwise::emulator
