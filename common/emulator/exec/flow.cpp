#include "common/emulator/exec/flow.hpp"

#include <utility>

namespace stepwise::emulator {

std::vector<std::uint32_t> immediate_post_dominators(
    const std::vector<std::vector<std::uint32_t>>& successors) {
  const std::uint32_t end = static_cast<std::uint32_t>(successors.size());
  std::vector<std::vector<std::uint32_t>> predecessors(end + 1);
  for (std::uint32_t n = 0; n < end; ++n) {
    for (const std::uint32_t s : successors[n]) predecessors[s].push_back(n);
    if (successors[n].empty()) predecessors[end].push_back(n);
  }
  // Post-order of the reversed graph from the end, without recursion.
  std::vector<std::uint32_t> order, number(end + 1, no_block);
  std::vector<bool> seen(end + 1, false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end, 0}};
  seen[end] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < predecessors[node].size()) {
      const std::uint32_t p = predecessors[node][next++];
      if (!seen[p]) {
        seen[p] = true;
        stack.emplace_back(p, 0);
      }
    } else {
      number[node] = static_cast<std::uint32_t>(order.size());
      order.push_back(node);
      stack.pop_back();
    }
  }
  std::vector<std::uint32_t> dominator(end + 1, no_block);
  dominator[end] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const std::uint32_t n = *it;
      if (n == end) continue;
      std::uint32_t meet = no_block;
      const auto join = [&](std::uint32_t s) {
        if (dominator[s] == no_block) return;
        if (meet == no_block) {
          meet = s;
          return;
        }
        while (meet != s) {
          while (number[meet] < number[s]) meet = dominator[meet];
          while (number[s] < number[meet]) s = dominator[s];
        }
      };
      if (successors[n].empty()) join(end);
      for (const std::uint32_t s : successors[n]) join(s);
      if (meet != dominator[n]) {
        dominator[n] = meet;
        changed = true;
      }
    }
  }
  dominator.pop_back();
  for (std::uint32_t& d : dominator)
    if (d == end) d = no_block;
  return dominator;
}

}  // namespace stepwise::emulator
