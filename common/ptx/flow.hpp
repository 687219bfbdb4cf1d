// The points where the paths of a branch reconverge.
#pragma once

#include <cstdint>
#include <vector>

namespace stepwise::emulator {

inline constexpr std::uint32_t no_block = 0xffffffffu;

// The immediate post-dominator of every node of a graph of `successors`; no_block if the paths meet
// only at the end, or never. A node without successors leads to the end.
//         Tested by tests/flow_test.cpp.
std::vector<std::uint32_t> immediate_post_dominators(
    const std::vector<std::vector<std::uint32_t>>& successors);

}  // namespace stepwise::emulator
