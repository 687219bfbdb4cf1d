// Post-dominators of the whole body, then of one pass through each loop.
#include "common/emulator/lower/meeting.hpp"

#include <algorithm>

namespace stepwise::emulator {
namespace {

using graph = std::vector<std::vector<std::uint32_t>>;

// Finds the inner points of branches whose innermost loop this is.
class one_pass {
 public:
  one_pass(const control_flow& flow, std::uint32_t number)
      : flow_(flow), number_(number), loop_(flow.loops[number]) {}

  void find(std::vector<meeting_point>& points) const {
    std::vector<std::uint32_t> wanted;
    for (const std::uint32_t b : loop_.blocks)
      if (flow_.blocks[b].loop == number_ && parts(b, points[b].inner)) wanted.push_back(b);
    if (wanted.empty()) return;
    const auto meets = immediate_post_dominators(within_a_pass());
    for (const std::uint32_t b : wanted) {
      const std::uint32_t meet = meets[place(b)];
      points[b] = {meet == no_block ? loop_.header : loop_.blocks[meet], points[b].inner};
    }
  }

 private:
  bool has(std::uint32_t block) const {
    return std::binary_search(loop_.blocks.begin(), loop_.blocks.end(), block);
  }
  std::uint32_t place(std::uint32_t block) const {
    const auto at = std::lower_bound(loop_.blocks.begin(), loop_.blocks.end(), block);
    return static_cast<std::uint32_t>(at - loop_.blocks.begin());
  }

  // Whether lanes diverge in the block, stay in the loop, and do not meet in it.
  bool parts(std::uint32_t block, std::uint32_t meet) const {
    const auto& to = flow_.blocks[block].successors;
    return to.size() > 1 && (meet == no_block || !has(meet)) &&
           std::all_of(to.begin(), to.end(), [&](std::uint32_t s) { return has(s); });
  }

  // The loop's blocks, without the edges that leave the loop or lead back to the header.
  graph within_a_pass() const {
    graph successors(loop_.blocks.size());
    for (std::size_t n = 0; n < successors.size(); ++n)
      for (const std::uint32_t s : flow_.blocks[loop_.blocks[n]].successors)
        if (s != loop_.header && has(s)) successors[n].push_back(place(s));
    return successors;
  }

  const control_flow& flow_;
  const std::uint32_t number_;
  const natural_loop& loop_;
};

}  // namespace

std::vector<meeting_point> meeting_points(const control_flow& flow, const ptx::body& body) {
  graph successors;
  for (const basic_block& b : flow.blocks) successors.push_back(b.successors);
  std::vector<meeting_point> points(flow.blocks.size());
  const auto meets = immediate_post_dominators(successors);
  for (std::size_t b = 0; b < points.size(); ++b) {
    const ptx::instruction& last = body.instructions[flow.blocks[b].end - 1];
    const bool divides = last.opcode == "brx" || (last.opcode == "bra" && !last.guard.empty());
    if (divides) points[b].inner = meets[b];
  }
  for (std::uint32_t n = 0; n < flow.loops.size(); ++n) one_pass(flow, n).find(points);
  return points;
}

}  // namespace stepwise::emulator
