// Which steps of which tiles a block makes: what 18_even_shares spells out, for the steps that
// build on it.
#pragma once

#include "labs/matmul/hand_on.hpp"

// As many tiles as blocks at a time, as long as there are twice as many; then steps. All threads of
// a block keep the same shares and ask for them together.
class even_shares {
 public:
  int tile = 0;          // of `tiles`
  int from = 0, to = 0;  // the tile's steps that this block makes

  // Of a launch of gridDim.x blocks that all run at once, at most tiles * steps: a block waits for
  // the one before it. If there are as many blocks as tiles, each has one, and nobody waits.
  __device__ even_shares(int tiles, int steps)
      : steps_(steps), round_(max(0, tiles / static_cast<int>(gridDim.x) - 1)) {
    first_shared_ = round_ * gridDim.x;
    const long long shared = static_cast<long long>(tiles - first_shared_) * steps;
    begin_ = shared * blockIdx.x / gridDim.x;
    end_ = shared * (blockIdx.x + 1) / gridDim.x;
  }

  // Goes on to the next tile; false if there is none.
  __device__ bool next() {
    if (round_ > 0) {
      tile = --round_ * gridDim.x + blockIdx.x;
      from = 0, to = steps_;
      return true;
    }
    if (end_ <= begin_) return false;
    tile = (end_ - 1) / steps_;
    to = end_ - tile * steps_;
    from = max(0, begin_ - tile * steps_);
    end_ = tile * steps_ + from;
    tile += first_shared_;
    return true;
  }

  // Waits until the tile's sums of the steps before `from` are in c, if there are any.
  __device__ void wait_for_beginning() const {
    if (from > 0) wait_for(blockIdx.x - 1);
  }

  // Says that the sums are in c, if others are to be added.
  __device__ void hand_on() const {
    if (to < steps_) ::hand_on(blockIdx.x);
  }

 private:
  int steps_, round_, first_shared_, begin_, end_;
};
