// The accesses that a unit (TMA, tensor cores) may still be making for one thread or warp.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/emulator/check/evidence.hpp"

namespace stepwise::emulator {

// An access, or part of one, and the tick at which it was issued.
struct unit_access {
  lane_access what;
  tick issued;
};

// Groups of accesses in the order of their commits, like the groups of cp.async.bulk and wgmma.
class unit_groups {
 public:
  bool empty() const { return open_.empty() && groups_.empty(); }

  void add(const unit_access& a) {
    if (!open_.empty()) {  // the chunks of a tile are often adjacent
      lane_access& last = open_.back().what;
      if (last.number == a.what.number && last.memory == a.what.memory &&
          last.op_at == a.what.op_at && last.at + last.bytes == a.what.at) {
        last.bytes += a.what.bytes;
        return;
      }
    }
    open_.push_back(a);
  }
  void commit() {
    groups_.push_back(std::move(open_));
    open_.clear();
  }
  // Ends the accesses in all groups except the last `left`: calls end(access) for those for which
  // ends(access) holds and keeps the others. If more than `most_kept` groups remain, also ends the
  // remaining accesses of the oldest groups.
  template <class Ends, class End>
  void wait(std::size_t left, Ends ends, End end) {
    const std::size_t finished = groups_.size() - std::min(left, groups_.size());
    for (std::size_t n = 0; n < finished; ++n) {
      std::erase_if(groups_[n], [&](const unit_access& a) {
        if (!ends(a)) return false;
        end(a);
        return true;
      });
    }
    while (groups_.size() > left && (groups_.front().empty() || groups_.size() > most_kept)) {
      for (const unit_access& a : groups_.front()) end(a);
      groups_.pop_front();
    }
  }
  // All accesses, committed or not.
  template <class Use>
  void each(Use use) const {
    for (const auto& group : groups_)
      for (const unit_access& a : group) use(a);
    for (const unit_access& a : open_) use(a);
  }

 private:
  static constexpr std::size_t most_kept = 64;  // bounds time and memory
  std::vector<unit_access> open_;               // not committed
  std::deque<std::vector<unit_access>> groups_;
};

}  // namespace stepwise::emulator
