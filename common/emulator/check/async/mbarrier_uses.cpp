// Counts the phases of each mbarrier by the changes of its parity.
#include "common/emulator/check/async/mbarrier_uses.hpp"

#include <algorithm>
#include <utility>

#include "common/emulator/machine/async.hpp"

namespace stepwise::emulator {
namespace {

unsigned parity_of(std::uint64_t word) {
  return static_cast<unsigned>(word >> mbarrier_parity_at) & 1;
}

}  // namespace

void mbarrier_uses::begin_block(std::uint32_t warps) {
  threads_ = warps * lanes;
  barriers_.clear();
  idle_.clear();
}

void mbarrier_uses::note(const observer::mbarrier_event& m, std::uint64_t barrier,
                         std::uint32_t warp, tick now) {
  using enum observer::mbarrier_use;
  state& b = barriers_[barrier];
  if (m.use == begins) {  // the word still contains old data
    b = {};
    return;
  }
  b.now = b.in(*m.word);
  b.parity = parity_of(*m.word);
  if (m.use == receives)
    b.now.received += m.bytes;
  else if (m.use != passes)
    b.now.announced += m.bytes;
  if (m.use != passes) return;
  b.now.seen = std::max(b.now.seen, b.now.number);
  const std::uint32_t thread = warp * lanes + static_cast<std::uint32_t>(m.lane);
  if (b.passed.empty()) b.passed.assign(threads_, 0);
  if (idle_.empty()) idle_.assign(threads_, {});
  const std::uint64_t passed = std::exchange(b.passed[thread], b.now.number + 1);
  const bool is_repeated = passed == b.now.number + 1, is_idle = is_repeated || b.now.number == 0;
  idle_waits& known = idle_[thread];
  if (!is_idle) {
    if (known.until == 0) known.until = now;
  } else if (known.from == 0 || known.until != 0 || known.is_repeated != is_repeated) {
    known = {barrier, is_repeated, now, 0};
  }
}

// At most one phase ends with each event.
mbarrier_uses::phase mbarrier_uses::state::in(std::uint64_t word) const {
  return parity_of(word) == parity ? now : phase{now.number + 1, now.seen, 0, 0};
}

mbarrier_uses::phase mbarrier_uses::at(std::uint64_t barrier, std::uint64_t word) const {
  const auto found = barriers_.find(barrier);
  return found == barriers_.end() ? phase() : found->second.in(word);
}

const mbarrier_uses::idle_waits* mbarrier_uses::before(std::uint32_t warp, int lane,
                                                       tick when) const {
  const std::uint32_t thread = warp * lanes + static_cast<std::uint32_t>(lane);
  if (thread >= idle_.size()) return nullptr;
  const idle_waits& known = idle_[thread];
  const bool is_last =
      known.from != 0 && known.from <= when && (known.until == 0 || when < known.until);
  return is_last ? &known : nullptr;
}

}  // namespace stepwise::emulator
