// Loads that the cells do not hold yet: loads from a block's shared memory, and walks through
// global memory.
//
// idea    Between two barriers, a block usually either fills its shared memory or reads it. As long
//         as no thread has stored there since the last barrier, a load races with no earlier
//         access, and only a store before the next barrier can race with it. So loads are kept in
//         a list. Such a store makes the cells record the loads, and a barrier settles them.
//         A walk is a series of loads in which each lane of a warp reads consecutive elements, and
//         the lanes' addresses are not adjacent. It is recorded as a whole, before the next store
//         to global memory or at the end of the launch. That costs one summary per sixteen cells.
// watch   Keeps the loads of one launch only: sites and shapes are numbered per launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/emulator/check/cell_groups.hpp"
#include "common/emulator/machine/observer.hpp"

namespace stepwise::emulator {

class kept_loads {
 public:
  struct load {
    std::uint32_t at;     // offset of the shape's first lane
    std::uint32_t shape;  // its number
    std::uint32_t warp;   // in the block
    std::uint32_t now;    // the warp's tick
    std::uint32_t site;
  };
  static constexpr std::size_t most_loads = 32768, most_shapes = 512;

  const std::vector<load>& all() const { return loads_; }
  const access_shape& shape(std::uint32_t number) const { return shapes_[number]; }
  bool empty() const { return loads_.empty(); }
  // Whether there is no room for another load.
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
  // Drops the loads. Drops the shapes only if there are too many.
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

class kept_walks {
 public:
  struct walk {
    accessor by{};
    std::int64_t line = 0;                // source line; an unrolled loop has several sites there
    std::uint64_t first = 0;              // the first lane's start, from the start of the memory
    std::uint64_t loads = 0;              // per lane; 0: the slot is empty
    std::uint32_t active = 0, bytes = 0;  // lane mask; per load
    std::uint64_t offset[32] = {};        // by lane, from the first lane
  };

  // Adds the warp's load to a walk, or begins a walk with it, and returns true. A new walk takes
  // the slot of an old one, which `end` records first. Returns false at a site where the walks
  // have been too short to be worth keeping.
  template <class F>
  bool try_keep(const access_event& e, const accessor& a, std::int64_t line, std::uint64_t first,
                F end) {
    constexpr std::uint64_t page = 4096;  // bytes; a warp keeps at most one walk that begins in it
    walk& w = walks_[(first / page * 61 + a.warp) % walks_.size()];
    if (w.loads != 0 && w.by.warp == a.warp && w.by.now == a.now && w.line == line &&
        first == w.first + w.loads * w.bytes && w.active == e.active && w.bytes == e.site->bytes &&
        std::ranges::equal(w.offset, e.shape->offset)) {
      ++w.loads;
      return true;
    }
    if (e.index >= short_walks_.size()) short_walks_.resize(e.index + 1);
    if (short_walks_[e.index] >= most_short_walks) return false;
    if (w.loads != 0) finish(w, end);
    w.by = a;
    w.line = line;
    w.first = first;
    w.loads = 1;
    w.active = e.active;
    w.bytes = e.site->bytes;
    std::ranges::copy(e.shape->offset, w.offset);
    has_walks_ = true;
    return true;
  }
  template <class F>
  void end_all(F end) {
    if (!has_walks_) return;
    has_walks_ = false;
    for (walk& w : walks_)
      if (w.loads != 0) finish(w, end);
  }
  void begin_launch() { short_walks_.clear(); }

 private:
  static constexpr std::uint64_t least_loads = 8;
  static constexpr std::uint8_t most_short_walks =
      16;  // consecutive short walks at a site, after which no walk begins there

  template <class F>
  void finish(walk& w, F end) {
    std::uint8_t& was_short = short_walks_[w.by.site];
    was_short = w.loads < least_loads ? static_cast<std::uint8_t>(was_short + 1) : 0;
    end(w);
    w.loads = 0;
  }

  std::vector<walk> walks_{256};
  std::vector<std::uint8_t> short_walks_;
  bool has_walks_ = false;
};

}  // namespace stepwise::emulator
