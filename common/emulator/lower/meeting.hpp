// Where the lanes of a warp that a branch divides wait for each other.
//
// idea    That is where all paths meet again, the branch's immediate post-dominator. But within a
//         loop that is left from several places it lies after the loop: lanes of which some skip a
//         part of the body would part for good. ptxas lets them meet within the pass, and those
//         that leave the loop need not be waited for.
// source  Measured: what ncu counts of neighbour 05_distances. Tested by tests/meeting_test.cpp and
//         ../run/tests/launch_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/control_flow.hpp"
#include "common/ptx/flow.hpp"

namespace stepwise::emulator {

// Blocks, or no_block.
struct meeting_point {
  std::uint32_t inner = no_block;
  // Another one, after the loop, for those that leave it before they come to the inner one.
  std::uint32_t outer = no_block;

  bool operator==(const meeting_point&) const = default;
};

// For every block of the body; none where it does not end in a branch that may divide lanes. A
// branch both of whose ways stay in a loop, and meet only after it, has an inner point: where its
// ways meet within a pass, the header at the latest.
std::vector<meeting_point> meeting_points(const control_flow& flow, const ptx::body& body);

}  // namespace stepwise::emulator
