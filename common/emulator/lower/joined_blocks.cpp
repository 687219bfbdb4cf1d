// Joins a block with its only successor if nothing else leads there, in reverse postorder.
#include "common/emulator/lower/joined_blocks.hpp"

#include <algorithm>
#include <utility>

#include "common/ptx/flow.hpp"

namespace stepwise::emulator {
namespace {

// The reachable blocks, each after the blocks that dominate it.
std::vector<std::uint32_t> reverse_postorder(const control_flow& flow) {
  std::vector<std::uint32_t> order;
  std::vector<bool> is_seen(flow.blocks.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> path{{0, 0}};  // block, its next successor
  is_seen[0] = true;
  while (!path.empty()) {
    auto& [b, next] = path.back();
    const auto& successors = flow.blocks[b].successors;
    if (next == successors.size()) {
      order.push_back(b);
      path.pop_back();
      continue;
    }
    const std::uint32_t s = successors[next++];
    if (is_seen[s]) continue;
    is_seen[s] = true;
    path.emplace_back(s, 0);
  }
  std::ranges::reverse(order);
  return order;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> joined_blocks(const ptx::body& body,
                                                      const control_flow& flow) {
  std::vector<std::vector<std::uint32_t>> chains;
  const auto& blocks = flow.blocks;
  const auto is_reached = [&](std::uint32_t b) {
    return b == 0 || blocks[b].dominator != no_block;
  };
  std::vector<std::uint32_t> entries(blocks.size(), 0);
  entries[0] = 1;
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    if (is_reached(b))
      for (const std::uint32_t s : blocks[b].successors) ++entries[s];
  const auto next = [&](std::uint32_t b) {
    const ptx::instruction& last = body.instructions[blocks[b].end - 1];
    const bool may_end = !last.guard.empty() &&
                         (last.opcode == "ret" || last.opcode == "exit" || last.opcode == "trap");
    if (blocks[b].successors.size() != 1 || may_end) return no_block;
    const std::uint32_t s = blocks[b].successors[0];
    return entries[s] == 1 ? s : no_block;
  };
  std::vector<bool> is_inside(blocks.size(), false);
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    if (const std::uint32_t s = is_reached(b) ? next(b) : no_block; s != no_block)
      is_inside[s] = true;
  for (const std::uint32_t b : reverse_postorder(flow)) {
    if (is_inside[b]) continue;
    auto& chain = chains.emplace_back();
    for (std::uint32_t at = b; at != no_block; at = next(at)) chain.push_back(at);
  }
  return chains;
}

}  // namespace stepwise::emulator
