// Divides the steps of all tiles evenly among workers (blocks or clusters).
#pragma once

// Steps `from` to `to` - 1 of a tile's sum.
struct tile_part {
  int tile, from, to;
};

// The parts of one worker. The first `rounds` rounds consist of whole tiles, and the rest is
// divided by steps. A worker begins at the end of its share of the rest, so it hands its partial
// sum over before it needs those of others.
class step_share {
 public:
  __device__ step_share(int tiles, int steps, int rounds, int workers, int worker)
      : tiles_(tiles), steps_(steps), rounds_(rounds), workers_(workers), worker_(worker) {
    first_shared_ = rounds_ * workers;
    shared_steps_ = static_cast<long long>(max(0, tiles - first_shared_)) * steps;
    begin_ = begin_of(worker);
    end_ = begin_of(worker + 1);
  }

  // Stores the next part in `part`. Returns false after the last one.
  __device__ bool next(tile_part& part) {
    while (rounds_ > 0) {
      part = {--rounds_ * workers_ + worker_, 0, steps_};
      if (part.tile < tiles_) return true;
    }
    if (begin_ == end_) return false;
    const int tile = (end_ - 1) / steps_, first = tile * steps_;
    part = {first_shared_ + tile, max(begin_ - first, 0), end_ - first};
    end_ = first + part.from;
    return true;
  }

  // Whether `worker`, one before the worker that finishes the shared tile, computes part of it.
  __device__ bool has_part_of(int tile, int worker) const {
    return begin_of(worker + 1) > (tile - first_shared_) * steps_;
  }

 private:
  __device__ int begin_of(int worker) const {
    return static_cast<int>(shared_steps_ * worker / workers_);
  }

  int tiles_, steps_, rounds_, workers_, worker_, first_shared_, begin_, end_;
  long long shared_steps_;
};
