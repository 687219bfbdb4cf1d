// Loads of a block's shared memory that its cells do not know of yet.
//
// idea    Between two barriers a block mostly either fills its shared memory or reads it. While
//         nobody has stored there since the last barrier, a load races with nothing so far, and
//         only a store before the next barrier could race with it. So loads wait on a list, until
//         such a store comes (then the cells record the loads) or the barrier (then they are
//         settled).
// watch   A launch's loads only: its shapes have numbers of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/emulator/machine/observer.hpp"

namespace stepwise::emulator {

class kept_loads {
 public:
  struct load {
    std::uint32_t at;     // offset of the shape's first lane
    std::uint32_t shape;  // number
    std::uint32_t warp;   // in the block
    std::uint32_t now;    // the warp's tick
    std::uint32_t site;
  };
  static constexpr std::size_t most_loads = 32768, most_shapes = 512;

  const std::vector<load>& all() const { return loads_; }
  const access_shape& shape(std::uint32_t number) const { return shapes_[number]; }
  bool empty() const { return loads_.empty(); }
  // No room for one more.
  bool full() const { return loads_.size() >= most_loads || shapes_.size() >= most_shapes; }

  void keep(const access_event& e, std::uint32_t now) {
    if (e.index >= shapes_of_sites_.size()) shapes_of_sites_.resize(e.index + 1);
    shape_of_site& known = shapes_of_sites_[e.index];
    if (known.serial != e.shape->serial) {
      known = {e.shape->serial, static_cast<std::uint32_t>(shapes_.size())};
      shapes_.push_back(*e.shape);
    }
    loads_.push_back({static_cast<std::uint32_t>(e.address[e.shape->first]), known.number, e.warp,
                      now, e.index});
  }
  // The loads are over; shapes go only if there are too many.
  void clear() {
    loads_.clear();
    if (shapes_.size() < most_shapes) return;
    shapes_.clear();
    std::ranges::fill(shapes_of_sites_, shape_of_site());
  }

 private:
  struct shape_of_site {
    std::uint64_t serial = 0;
    std::uint32_t number = 0;
  };
  std::vector<load> loads_;
  std::vector<access_shape> shapes_;
  std::vector<shape_of_site> shapes_of_sites_;
};

}  // namespace stepwise::emulator
