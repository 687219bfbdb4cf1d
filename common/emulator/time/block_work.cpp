// Keeps counts for each block. Blocks run in turns, so the counts in use change with the block.
#include "common/emulator/time/block_work.hpp"

#include <algorithm>

namespace stepwise::emulator {

void block_work::raise_to(const block_work& other) {
  longest_warp = std::max(longest_warp, other.longest_warp);
  sectors = std::max(sectors, other.sectors);
  shared_wavefronts = std::max(shared_wavefronts, other.shared_wavefronts);
}

void block_work_counter::begin_launch(unsigned warps) {
  warps_ = warps;
  begun_.clear();
  now_ = nullptr;
  kept_.clear();
  most_ = {};
}

void block_work_counter::switch_to(std::uint64_t block) {
  if (now_ != nullptr && block == block_) return;
  const auto [at, is_new] = begun_.try_emplace(block);
  if (is_new) at->second.of_warp.resize(warps_);
  block_ = block;
  now_ = &at->second;
}

void block_work_counter::end_block(std::uint64_t block, bool keeps) {
  switch_to(block);
  now_->work.longest_warp = *std::ranges::max_element(now_->of_warp);
  most_.raise_to(now_->work);
  if (keeps) kept_[block] = now_->work;
  begun_.erase(block);
  now_ = nullptr;
}

const block_work* block_work_counter::kept(std::uint64_t block) const {
  const auto found = kept_.find(block);
  return found != kept_.end() ? &found->second : nullptr;
}

}  // namespace stepwise::emulator
