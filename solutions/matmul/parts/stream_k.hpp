// Chooses which steps of which tiles a block takes, as spelled out in 22_stream_k, for
// the solutions that build on it.
#pragma once

#include "solutions/matmul/parts/fixup.hpp"

// Each block takes a whole tile at a time as long as two per block are left, and then a share of
// the steps. All threads of a block keep the same shares and take them together.
class equal_shares {
 public:
  int tile;      // below `tiles`
  int from, to;  // the block's steps of the tile

  // For a launch of gridDim.x blocks, at most tiles * steps. All must run at once, because a block
  // waits for the one before it.
  __device__ equal_shares(int tiles, int steps)
      : steps_(steps), rounds_(max(0, tiles / static_cast<int>(gridDim.x) - 1)) {
    first_shared_ = rounds_ * gridDim.x;
    const long long shared = static_cast<long long>(tiles - first_shared_) * steps;
    begin_ = shared * blockIdx.x / gridDim.x;
    end_ = shared * (blockIdx.x + 1) / gridDim.x;
  }

  __device__ bool any_left() const { return round_ < rounds_ || end_ > begin_; }

  // Sets tile, from and to. Call it only if any_left().
  __device__ void take() {
    if (round_ < rounds_) {
      tile = round_++ * gridDim.x + blockIdx.x;
      from = 0;
      to = steps_;
    } else {
      tile = (end_ - 1) / steps_;
      to = end_ - tile * steps_;
      from = max(0, begin_ - tile * steps_);
      end_ = tile * steps_ + from;
      tile += first_shared_;
    }
  }

  // Waits until the tile's sums of the steps before `from` are in c, if there are any.
  __device__ void wait_for_beginning() const {
    if (from > 0) wait_for(blockIdx.x - 1);
  }

  // Signals that the sums are in c, if another block is to add to them.
  __device__ void pass_on() const {
    if (to < steps_) hand_on(blockIdx.x);
  }

 private:
  int steps_, rounds_, round_ = 0, first_shared_, begin_, end_;
};

// The same interface, for a launch with one block per tile.
class one_tile {
 public:
  int tile = blockIdx.x;
  static constexpr int from = 0;
  int to;

  __device__ one_tile(int /*tiles*/, int steps) : to(steps) {}
  __device__ bool any_left() const { return !taken_; }
  __device__ void take() { taken_ = true; }
  __device__ void wait_for_beginning() const {}
  __device__ void pass_on() const {}

 private:
  bool taken_ = false;
};
