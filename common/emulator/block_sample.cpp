#include "common/emulator/block_sample.hpp"

#include <algorithm>

#include "common/emulator/run/block.hpp"
#include "common/emulator/time/code_costs.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t consecutive_blocks = 64;
// Instructions of warps. No further block begins once all blocks have executed so many, and one
// block ends at half of them. A launch without loops and with fewer runs completely.
constexpr std::int64_t enough = 500'000;

}  // namespace

bool block_sample::is_sampled(const launch_info& launch, std::uint64_t blocks) {
  const auto [known, is_new] = known_.try_emplace(launch.code);
  code_facts& facts = known->second;
  if (is_new) {
    const code_costs costs(*launch.code, launch.machine_code);
    facts = {costs.at.size(), costs.has_loops, costs.waits_for_blocks};
  }
  if (facts.waits_for_blocks || launch.config->cooperative) return false;
  const double warps = static_cast<double>(blocks) * launch.warps;
  return facts.has_loops || warps * static_cast<double>(facts.instructions) > enough;
}

void block_sample::begin_launch(const launch_info& launch) {
  const std::uint64_t blocks = volume(launch.config->grid);
  sampling_ = is_sampled(launch, blocks);
  last_ = blocks - 1;
  first_ = blocks > consecutive_blocks ? random_() % (blocks - consecutive_blocks) : 0;
  of_block_ = of_all_ = 0;
  // All warps of a block that ends early have begun.
  slice_ = !sampling_ ? slice_instructions : std::max<std::int64_t>(200, enough / 4 / launch.warps);
}

bool block_sample::wants(std::uint64_t block) {
  if (!sampling_ || block == 0 || block == last_) return true;
  return block >= first_ && block - first_ < consecutive_blocks && of_all_ < enough;
}

std::int64_t block_sample::slice() { return sampling_ && of_block_ >= enough / 2 ? 0 : slice_; }

void block_sample::switch_to(const block& b) {
  if (b.index != block_) of_block_ = 0;
  block_ = b.index;
}

void block_sample::executed(std::uint32_t, std::uint32_t first, std::uint32_t end, std::uint32_t) {
  of_block_ += end - first;
  of_all_ += end - first;
}

}  // namespace stepwise::emulator
