#include "common/emulator/block_sample.hpp"

#include <algorithm>
#include <iterator>

#include "common/emulator/run/block.hpp"
#include "common/emulator/time/code_costs.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t consecutive_blocks = 16;
// No block begins once all blocks have executed this many instructions of warps, or touched this
// many pages of global memory. A block ends at half of either limit. A launch without loops and
// with fewer instructions runs completely. A page costs about 20 pages of the checks' shadow
// memory.
constexpr std::int64_t enough_instructions = 200'000, enough_pages = 2048;
// If the blocks of a launch may wait for each other, it ends after this many instructions of warps.
// A checked run executes about 10 million per second.
constexpr std::int64_t enough_from_first = 50'000'000;
constexpr std::uint64_t page_bytes = 4096;

}  // namespace

block_sample::choice block_sample::choice_for(const launch_info& launch, std::uint64_t blocks) {
  const auto [known, is_new] = known_.try_emplace(launch.code);
  code_facts& facts = known->second;
  if (is_new) {
    const code_costs costs(*launch.code, launch.machine_code);
    facts = {costs.at.size(), costs.has_loops, costs.waits_for_blocks};
  }
  if (facts.waits_for_blocks || launch.config->cooperative)
    return volume(cluster_of(*launch.attributes, *launch.config)) > 1 ? choice::all
                                                                      : choice::from_first;
  const double warps = static_cast<double>(blocks) * launch.warps;
  const bool is_large = warps * static_cast<double>(facts.instructions) > enough_instructions;
  return facts.has_loops || is_large ? choice::drawn : choice::all;
}

void block_sample::begin_launch(const launch_info& launch) {
  const std::uint64_t blocks = volume(launch.config->grid);
  choice_ = choice_for(launch, blocks);
  last_ = blocks - 1;
  first_ = blocks > consecutive_blocks ? random_() % (blocks - consecutive_blocks) : 0;
  of_block_ = of_all_ = {};
  // This is short enough that all warps of a block have begun when the block ends early.
  slice_ = choice_ != choice::drawn
               ? slice_instructions
               : std::max<std::int64_t>(200, enough_instructions / 4 / launch.warps);
}

bool block_sample::wants(std::uint64_t block) {
  if (choice_ == choice::from_first) return of_all_.instructions < enough_from_first;
  if (choice_ == choice::all || block == 0 || block == last_) return true;
  return block >= first_ && block - first_ < consecutive_blocks && !of_all_.reaches(1);
}

std::int64_t block_sample::slice() {
  const bool ends = choice_ == choice::from_first
                        ? of_all_.instructions >= enough_from_first
                        : choice_ == choice::drawn && of_block_.reaches(0.5);
  return ends ? 0 : slice_;
}

bool block_sample::work::reaches(double share) const {
  return static_cast<double>(instructions) >= share * enough_instructions ||
         static_cast<double>(pages) >= share * enough_pages;
}

void block_sample::switch_to(const block& b) {
  if (b.index != block_) of_block_ = {};
  block_ = b.index;
}

std::uint32_t block_sample::access(const access_event& e) {
  if (e.space != memory_space::global) return e.active;
  for (std::uint32_t lanes = e.active; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t page = e.address[__builtin_ctz(lanes)] / page_bytes;
    std::uint64_t& known = recent_pages_[page % std::size(recent_pages_)];
    if (known == page) continue;
    known = page;
    ++of_block_.pages;
    ++of_all_.pages;
  }
  return e.active;
}

void block_sample::executed(std::uint32_t, std::uint32_t first, std::uint32_t end, std::uint32_t) {
  of_block_.instructions += end - first;
  of_all_.instructions += end - first;
}

}  // namespace stepwise::emulator
