// Post-dominators by Lengauer and Tarjan's algorithm on the reversed graph.
#include "common/ptx/flow.hpp"

#include <algorithm>
#include <utility>

namespace stepwise::emulator {
namespace {

// Dominators in the reversed graph, whose root is the end. Nodes are identified by their number in
// a depth-first walk from the root. Unlike the usual iterative algorithm, this algorithm is fast
// even for graphs from an attacker.
//
// source  T. Lengauer, R. E. Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph",
//         ACM TOPLAS 1(1), 1979, the simple version.
class dominators {
 public:
  using graph = std::vector<std::vector<std::uint32_t>>;

  explicit dominators(const graph& successors)
      : successors_(successors), end_(static_cast<std::uint32_t>(successors.size())) {
    walk();
    const auto count = static_cast<std::uint32_t>(node_.size());
    semi_.resize(count);
    for (std::uint32_t n = 0; n < count; ++n) semi_[n] = n;
    best_ = semi_;
    ancestor_.assign(count, no_block);
    immediate_.assign(count, 0);
    std::vector<std::vector<std::uint32_t>> waiting(count);
    for (std::uint32_t n = count; n-- > 1;) {
      const auto& next = successors_[node_[n]];
      if (next.empty()) semi_[n] = 0;
      for (const std::uint32_t s : next)
        if (number_[s] != no_block) semi_[n] = std::min(semi_[n], semi_[least(number_[s])]);
      waiting[semi_[n]].push_back(n);
      ancestor_[n] = parent_[n];
      for (const std::uint32_t w : std::exchange(waiting[parent_[n]], {})) {
        const std::uint32_t u = least(w);
        immediate_[w] = semi_[u] < semi_[w] ? u : parent_[n];
      }
    }
    for (std::uint32_t n = 1; n < count; ++n)
      if (immediate_[n] != semi_[n]) immediate_[n] = immediate_[immediate_[n]];
  }

  // no_block for the end, and for a node that does not reach it.
  std::uint32_t of(std::uint32_t node) const {
    if (number_[node] == no_block) return no_block;
    const std::uint32_t found = node_[immediate_[number_[node]]];
    return found == end_ ? no_block : found;
  }

 private:
  void walk() {
    graph predecessors(end_ + 1);
    for (std::uint32_t n = 0; n < end_; ++n) {
      for (const std::uint32_t s : successors_[n]) predecessors[s].push_back(n);
      if (successors_[n].empty()) predecessors[end_].push_back(n);
    }
    number_.assign(end_ + 1, no_block);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stack{{end_, 0}};  // node, its parent
    while (!stack.empty()) {
      const auto [node, parent] = stack.back();
      stack.pop_back();
      if (number_[node] != no_block) continue;
      const auto number = static_cast<std::uint32_t>(node_.size());
      number_[node] = number;
      node_.push_back(node);
      parent_.push_back(parent);
      for (const std::uint32_t p : predecessors[node])
        if (number_[p] == no_block) stack.emplace_back(p, number);
    }
  }

  // The node with the smallest semidominator among the ancestors of a node that are known so far,
  // except the root. Compresses the path.
  std::uint32_t least(std::uint32_t n) {
    if (ancestor_[n] == no_block) return n;
    std::vector<std::uint32_t>& path = path_;
    for (path.clear(); ancestor_[ancestor_[n]] != no_block; n = ancestor_[n]) path.push_back(n);
    for (; !path.empty(); path.pop_back()) {
      const std::uint32_t m = path.back(), above = ancestor_[m];
      if (semi_[best_[above]] < semi_[best_[m]]) best_[m] = best_[above];
      ancestor_[m] = ancestor_[above];
      n = m;
    }
    return best_[n];
  }

  const graph& successors_;
  const std::uint32_t end_;
  std::vector<std::uint32_t> number_;         // by node; no_block: not reached
  std::vector<std::uint32_t> node_, parent_;  // by number, like the arrays below
  std::vector<std::uint32_t> semi_, best_, ancestor_, immediate_, path_;
};

}  // namespace

std::vector<std::uint32_t> immediate_post_dominators(
    const std::vector<std::vector<std::uint32_t>>& successors) {
  const dominators found(successors);
  std::vector<std::uint32_t> meets(successors.size());
  for (std::uint32_t n = 0; n < meets.size(); ++n) meets[n] = found.of(n);
  return meets;
}

}  // namespace stepwise::emulator
