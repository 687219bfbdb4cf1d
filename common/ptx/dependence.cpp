// Finds the branches that control each block, and then goes back from the wanted blocks.
#include "common/ptx/dependence.hpp"

#include <algorithm>

#include "common/ptx/flow.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_steps = 64;  // per block and edge

struct way {
  std::uint32_t branch, to;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> ways_towards(const control_flow& flow,
                                                     const std::vector<std::uint32_t>& wanted) {
  const std::size_t count = flow.blocks.size();
  std::vector<std::vector<std::uint32_t>> successors, towards(count);
  std::size_t room = 16 + count;
  for (const basic_block& b : flow.blocks) {
    successors.push_back(b.successors);
    room += b.successors.size();
  }
  room *= most_steps;
  const auto meets = immediate_post_dominators(successors);
  // For every block, the branches that control it.
  std::vector<std::vector<way>> decided_by(count);
  for (std::uint32_t b = 0; b < count; ++b) {
    if (successors[b].size() < 2) continue;
    for (const std::uint32_t to : successors[b]) {
      for (std::uint32_t n = to; n != no_block && n != meets[b]; n = meets[n]) {
        if (room-- == 0) return towards;
        decided_by[n].push_back({b, to});
      }
    }
  }
  std::vector<bool> seen(count, false);
  std::vector<std::uint32_t> todo;
  const auto visit = [&](std::uint32_t block) {
    if (seen[block]) return;
    seen[block] = true;
    todo.push_back(block);
  };
  for (const std::uint32_t block : wanted) visit(block);
  while (!todo.empty()) {
    const std::uint32_t block = todo.back();
    todo.pop_back();
    for (const way& w : decided_by[block]) {
      towards[w.branch].push_back(w.to);
      visit(w.branch);
    }
  }
  for (auto& to : towards) {
    std::ranges::sort(to);
    to.erase(std::unique(to.begin(), to.end()), to.end());
  }
  return towards;
}

}  // namespace stepwise::emulator
