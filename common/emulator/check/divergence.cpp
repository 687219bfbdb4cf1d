// Finds the branch at which threads left a path to a barrier that others wait at.
#include <algorithm>

#include "common/emulator/check/barriers.hpp"

namespace stepwise::emulator {
namespace {

// Lines that are read to understand a statement.
constexpr std::uint32_t longest_statement = 400;

std::string line_words(const source_line& at) { return "at line " + std::to_string(at.line); }

}  // namespace

void barrier_check::took_branch(const warp_event& e, std::uint32_t to) {
  std::vector<taken_branch>& known = state().taken_branches[e.warp];
  std::uint32_t fresh = e.lanes;
  for (const taken_branch& t : known)
    if (t.at == e.at && t.to == to) fresh &= ~t.lanes;
  if (fresh == 0) return;
  known.push_back({e.at, to, fresh});
  state().has_taken_branches = true;
}

// Forgets the branches of live lanes. Exited lanes keep the branches that led them away.
void barrier_check::forget_taken_branches() {
  block_waits& b = state();
  if (!b.has_taken_branches) return;
  b.has_taken_branches = false;
  for (std::size_t w = 0; w < b.taken_branches.size(); ++w) {
    for (taken_branch& t : b.taken_branches[w]) t.lanes &= ~alive(w);
    std::erase_if(b.taken_branches[w], [](const taken_branch& t) { return t.lanes == 0; });
    b.has_taken_branches = b.has_taken_branches || !b.taken_branches[w].empty();
  }
}

// Whether lanes that take that side of a branch may miss a barrier that the other side leads to.
bool barrier_check::misses(const taken_branch& t, const op* barrier) {
  const program_function& f = evidence_.code->function_of(t.at);
  function_flow& known = evidence_.flow_of(f);
  std::vector<std::uint32_t> wanted;
  if (&f == &evidence_.code->function_of(barrier)) {
    wanted.push_back(evidence_.block_of(barrier));
  } else {  // the barrier is in a function that this one calls
    for (std::size_t n = 0; n < f.body->instructions.size(); ++n)
      if (f.body->instructions[n].opcode == "call") wanted.push_back(known.flow.block_of[n]);
  }
  const std::vector<std::uint32_t>& to = known.towards(wanted)[evidence_.block_of(t.at)];
  return !to.empty() && !std::ranges::binary_search(to, t.to);
}

// The branch at which one of the lanes `gone` of a warp first left the path of lane `waits` of
// another warp, which is at the barrier.
std::optional<barrier_check::divergence> barrier_check::divergence_of(const op* barrier,
                                                                      std::uint32_t waits_warp,
                                                                      int waits, std::uint32_t warp,
                                                                      std::uint32_t gone) {
  const auto same_way = [&](const taken_branch& t) {
    return std::ranges::any_of(state().taken_branches[waits_warp], [&](const taken_branch& other) {
      return other.at == t.at && other.to == t.to && ((other.lanes >> waits) & 1) != 0;
    });
  };
  for (const taken_branch& t : state().taken_branches[warp]) {
    if ((t.lanes & gone) == 0 || same_way(t) || !misses(t, barrier)) continue;
    return describe_divergence(t, barrier, warp, first_lane(t.lanes & gone));
  }
  return std::nullopt;
}

barrier_check::divergence barrier_check::describe_divergence(const taken_branch& t,
                                                             const op* barrier, std::uint32_t warp,
                                                             int lane) {
  divergence p{t.at, warp, lane, way_past::unknown, {}};
  const std::vector<source_line> branch = evidence_.source.chain_of(*evidence_.code, t.at);
  const std::vector<source_line> end = evidence_.source.chain_of(*evidence_.code, barrier);
  if (branch.empty() || end.empty()) return p;
  // The first level at which their lines differ. There, both are in one function.
  std::size_t level = 0;
  while (level + 1 < std::min(branch.size(), end.size()) && branch[level] == end[level]) ++level;
  p.line = branch[level];
  if (branch[level].file != end[level].file) return p;
  const control_flow& flow = evidence_.flow_of(evidence_.code->function_of(t.at)).flow;
  const bool same_function =
      &evidence_.code->function_of(t.at) == &evidence_.code->function_of(barrier);
  bool leaves = false;
  for (const natural_loop& l : flow.loops) {
    const auto has = [&](std::uint32_t block) {
      return std::ranges::binary_search(l.blocks, block);
    };
    leaves = leaves || (has(evidence_.block_of(t.at)) && !has(t.to) &&
                        (!same_function || has(evidence_.block_of(barrier))));
  }
  const std::uint32_t first = p.line.line, wanted = end[level].line;
  if (wanted > first && wanted - first > longest_statement) return p;
  const auto lines =
      evidence_.source.lines(p.line.file, first, std::max(first, wanted) + longest_statement);
  p.how = how_past(lines, static_cast<int>(wanted) - static_cast<int>(first), leaves);
  if (p.how == way_past::unknown && leaves) p.how = way_past::loop;
  return p;
}

// The reason why threads miss the barrier, their action there, and the advice.
barrier_check::divergence_words barrier_check::words_of(const divergence& p) {
  const std::string at = line_words(p.line);
  switch (p.how) {
    case way_past::condition:
      return {"it is inside the condition " + at, "goes past the barrier here",
              "End the condition before the barrier: every thread of the block must reach it, even "
              "those with nothing to do."};
    case way_past::operand:
      return {
          "it is called in an operand of &&, || or ? " + at + ", which not all threads evaluate",
          "goes past the barrier here",
          "Call the barrier before the expression, in a statement of its own that every thread of "
          "the block reaches, and use its result there."};
    case way_past::loop:
      return {"it is in the loop " + at + ", which not all threads run the same number of times",
              "leaves or skips the loop here",
              "Let all threads of the block make the same number of passes, and put a condition "
              "around the work in the loop, not around the barrier."};
    case way_past::breaks:
      return {"the break " + at + " takes them out of its loop", "leaves the loop here",
              "Do not break out of a loop with a barrier while others stay: let all threads "
              "continue to its end without work, or leave together (__syncthreads_or)."};
    case way_past::continues:
      return {"the continue " + at + " takes them past it", "continues with the next pass here",
              "Do not skip a barrier by continue: put the condition around the work instead, so "
              "that every thread reaches the barrier in every pass."};
    case way_past::returns:
      return {"the return " + at + " comes before it", "leaves the kernel here",
              "Do not return before the last barrier: put the condition around the work instead."};
    case way_past::unknown:
      break;
  }
  return {p.line.line == 0 ? "they took another path" : "they took another path " + at,
          "takes another path here", general_advice()};
}

std::string barrier_check::general_advice() {
  return "Let every thread of the block reach the barrier: no condition, loop or return that "
         "differs between threads may lead past it.";
}

}  // namespace stepwise::emulator
