// Few copies are unfinished at a time, so each query scans all of them.
#include "common/emulator/check/unfollowed/bulk_loads.hpp"

#include <algorithm>

namespace stepwise::emulator {

bool bulk_loads::copy::is_seen() const {
  return std::ranges::any_of(seen, [](std::uint32_t lanes) { return lanes != 0; });
}

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

void bulk_loads::saw(std::uint64_t barrier, unsigned parity, std::uint32_t warp, int lane) {
  for (copy& c : copies_) {
    // The copy's own phase is over only if another one has begun.
    if (c.barrier != barrier || c.parity == parity) continue;
    if (c.seen.size() <= warp) c.seen.resize(warp + 1);
    c.seen[warp] |= 1u << lane;
  }
}

void bulk_loads::met(std::uint32_t warp, std::uint32_t lanes) {
  for (copy& c : copies_)
    if (warp < c.seen.size() && (c.seen[warp] & lanes) != 0) c.seen[warp] |= lanes;
}

void bulk_loads::all_met() {
  std::erase_if(copies_, [](const copy& c) { return c.is_seen(); });
}

bool bulk_loads::knows(std::uint64_t at, std::uint64_t bytes, std::uint32_t warp, int lane) const {
  return std::ranges::none_of(copies_, [&](const copy& c) {
    const bool overlaps = c.first < at + bytes && at < c.end;
    return overlaps && (warp >= c.seen.size() || ((c.seen[warp] >> lane) & 1) == 0);
  });
}

bool bulk_loads::any_unseen() const { return !std::ranges::all_of(copies_, &copy::is_seen); }

}  // namespace stepwise::emulator
