// The points where the paths of a branch reconverge.
#pragma once

#include <cstdint>
#include <vector>

namespace stepwise::emulator {

inline constexpr std::uint32_t no_block = 0xffffffffu;

// The immediate post-dominator of every node of the graph that `successors` describes; no_block if
// the paths from the node meet only at the end, or never. A node without successors leads to the
// end.
//
// tests   tests/flow_test.cpp
std::vector<std::uint32_t> immediate_post_dominators(
    const std::vector<std::vector<std::uint32_t>>& successors);

}  // namespace stepwise::emulator
