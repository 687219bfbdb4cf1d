#include "common/emulator/block_sample.hpp"

#include <algorithm>
#include <iterator>

#include "common/emulator/run/block.hpp"
#include "common/emulator/time/code_costs.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t consecutive_blocks = 16;
// Of all blocks: no further block begins after so much work, and one block ends at half of it.
// Instructions of warps; a launch without loops and with fewer runs completely.
constexpr std::int64_t enough = 200'000;
// Pages of 4 KiB of global memory. Each costs some 20 pages of the checks' shadow memory.
constexpr std::int64_t enough_pages = 2048;

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
  of_block_ = of_all_ = {};
  // All warps of a block that ends early have begun.
  slice_ = !sampling_ ? slice_instructions : std::max<std::int64_t>(200, enough / 4 / launch.warps);
}

bool block_sample::wants(std::uint64_t block) {
  if (!sampling_ || block == 0 || block == last_) return true;
  return block >= first_ && block - first_ < consecutive_blocks && !of_all_.reaches(1);
}

std::int64_t block_sample::slice() { return sampling_ && of_block_.reaches(0.5) ? 0 : slice_; }

bool block_sample::work::reaches(double share) const {
  return static_cast<double>(instructions) >= share * enough ||
         static_cast<double>(pages) >= share * enough_pages;
}

void block_sample::switch_to(const block& b) {
  if (b.index != block_) of_block_ = {};
  block_ = b.index;
}

std::uint32_t block_sample::access(const access_event& e) {
  if (e.space != memory_space::global) return e.active;
  for (std::uint32_t lanes = e.active; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t page = e.address[__builtin_ctz(lanes)] / 4096;
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
