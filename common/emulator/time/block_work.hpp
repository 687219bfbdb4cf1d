// The work of each block of a launch that runs completely, used to find the blocks with the most
// work.
//
// idea    The time of a launch comes from the blocks of one multiprocessor. A block that does the
//         work of all others ends long after them, and is probably not one of that multiprocessor's
//         blocks. Every block's work is therefore counted, but only the maxima and the recorded
//         blocks' counts are kept.
// watch   Blocks that wait for each other run alternately, so each block that has begun has its own
//         counts.
// Tested by tests/block_work_test.cpp.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace stepwise::emulator {

struct block_work {
  std::uint64_t longest_warp = 0;  // cost of the instructions of the most expensive warp
  std::uint64_t sectors = 0;       // of all accesses to global and local memory
  std::uint64_t shared_wavefronts = 0;

  // Takes the larger of each count.
  void raise_to(const block_work& other);
};

class block_work_counter {
 public:
  void begin_launch(unsigned warps);
  void switch_to(std::uint64_t block);
  // `keeps`: this block's work can be requested later.
  void end_block(std::uint64_t block, bool keeps);
  void executed(std::uint32_t warp, std::uint64_t cost) { now_->of_warp[warp] += cost; }
  void moved(std::uint64_t sectors, std::uint64_t shared_wavefronts) {
    now_->work.sectors += sectors;
    now_->work.shared_wavefronts += shared_wavefronts;
  }

  // The largest value of each count; they may come from different blocks.
  const block_work& most() const { return most_; }
  // Null unless the block has ended and was kept.
  const block_work* kept(std::uint64_t block) const;

 private:
  struct counts {
    block_work work;
    std::vector<std::uint64_t> of_warp;
  };

  unsigned warps_ = 0;
  std::unordered_map<std::uint64_t, counts> begun_;  // blocks that have not ended
  std::uint64_t block_ = 0;                          // the running block
  counts* now_ = nullptr;                            // its counts
  std::unordered_map<std::uint64_t, block_work> kept_;
  block_work most_;
};

}  // namespace stepwise::emulator
