// Which stores of a block's threads a fence.proxy.async covers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/emulator/check/order.hpp"

namespace stepwise::emulator {

// idea    A thread's fence covers all stores that are ordered before it: its own, those of its
//         block before the block's last barrier, those of its warp before the last __syncwarp, and
//         those that the thread has learned of in another way.
// watch   The check does not examine whether the fence itself is ordered before the unit's access.
//         It ignores a __syncwarp of only some lanes.
// source  PTX ISA 9.0, "Async proxy" and "Causality order".
class proxy_fences {
 public:
  void begin_block(std::uint32_t warps) {
    of_block_ = 0;
    warps_.assign(warps, {});
    learned_.clear();
  }
  // `now`: a tick after all earlier accesses of the warp. `warp` is numbered in the block.
  void fenced(const order& sequence, const block_clock& b, std::uint32_t warp, std::uint32_t lanes,
              tick now) {
    of_block_ = std::max(of_block_, b.barrier);
    of_warp& w = warps_[warp];
    w.met = std::max(w.met, b.warps[warp].met);
    for (std::uint32_t l = lanes; l != 0; l &= l - 1) w.lanes[__builtin_ctz(l)] = now;
    auto known = sequence.known_by(b, b.first_warp + warp, lanes);
    if (known == nullptr) return;
    std::erase_if(learned_, [&](const fence& f) { return f.warp == warp && f.lanes == lanes; });
    learned_.push_back({warp, lanes, now, std::move(known)});
    if (learned_.size() > most_remembered) learned_.erase(learned_.begin());
  }
  // Whether a store by a lane of this warp of the block at the tick `when` is covered.
  bool covers(order& sequence, const block_clock& b, std::uint32_t warp, int lane,
              tick when) const {
    const of_warp& w = warps_[warp];
    if (when < of_block_ || when < w.met || when < w.lanes[static_cast<std::size_t>(lane)])
      return true;
    return std::ranges::any_of(learned_, [&](const fence& f) {
      return when < f.when && sequence.covers(*f.known, b, b.first_warp + warp, lane, when);
    });
  }

 private:
  static constexpr std::size_t most_remembered = 64;
  struct of_warp {
    tick met = 0;
    std::array<tick, 32> lanes{};
  };
  struct fence {
    std::uint32_t warp, lanes;
    tick when;
    std::shared_ptr<const knowledge> known;
  };
  tick of_block_ = 0;
  std::vector<of_warp> warps_;
  std::vector<fence> learned_;  // the last ones, by threads that had learned of other accesses
};

}  // namespace stepwise::emulator
