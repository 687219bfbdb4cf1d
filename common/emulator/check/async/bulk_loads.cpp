// Few copies are unfinished at a time, so each query scans all of them.
#include "common/emulator/check/async/bulk_loads.hpp"

#include <algorithm>
#include <utility>

namespace stepwise::emulator {

std::optional<bulk_load> bulk_loads::add(bulk_load copy) {
  std::optional<bulk_load> overwritten;
  std::erase_if(copies_, [&](const bulk_load& c) {
    if (!c.overlaps(copy.first, copy.end - copy.first)) return false;
    if (!c.is_seen()) overwritten = c;
    return true;
  });
  copies_.push_back(std::move(copy));
  return overwritten;
}

void bulk_loads::saw(std::uint64_t barrier, unsigned parity, std::uint32_t warp, int lane,
                     tick when) {
  for (bulk_load& c : copies_) {
    // The copy's own phase is over only if another one has begun.
    if (c.barrier != barrier || c.parity == parity || c.was_seen_by(warp, lane)) continue;
    if (c.seen.empty() || c.seen.back().warp != warp || c.seen.back().when != when)
      c.seen.push_back({warp, 0, when});
    c.seen.back().lanes |= 1u << lane;
  }
}

void bulk_loads::all_met() {
  std::erase_if(copies_, [](const bulk_load& c) { return c.is_seen(); });
}

const bulk_load* bulk_loads::unseen() const {
  const auto found = std::ranges::find_if(
      copies_, [](const bulk_load& c) { return !c.is_seen() && !c.is_reported; });
  return found == copies_.end() ? nullptr : &*found;
}

}  // namespace stepwise::emulator
