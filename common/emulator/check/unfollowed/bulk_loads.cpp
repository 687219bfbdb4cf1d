// Few copies are unfinished at a time, so each query scans all of them.
#include "common/emulator/check/unfollowed/bulk_loads.hpp"

#include <algorithm>

namespace stepwise::emulator {

bool bulk_loads::add(std::uint64_t at, std::uint64_t bytes, std::uint64_t barrier,
                     unsigned parity) {
  const std::uint64_t end = at + bytes;
  bool is_free = true;
  std::erase_if(copies_, [&](const copy& c) {
    const bool overlaps = c.first < end && at < c.end;
    is_free = is_free && (!overlaps || c.is_seen());
    return overlaps;
  });
  // The rows of a tile are often adjacent.
  if (!copies_.empty()) {
    copy& last = copies_.back();
    if (last.end == at && last.barrier == barrier && last.parity == parity && !last.is_seen()) {
      last.end = end;
      return is_free;
    }
  }
  copies_.push_back({at, end, barrier, parity, {}});
  return is_free;
}

void bulk_loads::saw(std::uint64_t barrier, unsigned parity, std::uint32_t warp, int lane,
                     tick when) {
  for (copy& c : copies_) {
    // The copy's own phase is over only if another one has begun.
    if (c.barrier != barrier || c.parity == parity || c.was_seen_by(warp, lane)) continue;
    if (c.seen.empty() || c.seen.back().warp != warp || c.seen.back().when != when)
      c.seen.push_back({warp, 0, when});
    c.seen.back().lanes |= 1u << lane;
  }
}

void bulk_loads::all_met() {
  std::erase_if(copies_, [](const copy& c) { return c.is_seen(); });
}

bool bulk_loads::any_unseen() const { return !std::ranges::all_of(copies_, &copy::is_seen); }

}  // namespace stepwise::emulator
