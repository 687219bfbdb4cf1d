// Finds where the lanes of a warp reconverge after a divergent branch.
//
// idea    All paths meet again at the branch's immediate post-dominator. If a loop has several
//         exits, however, that block lies after the loop. If only some lanes skip part of the body,
//         the lanes would then not reconverge before the loop ends. ptxas lets them reconverge
//         within the iteration, without waiting for lanes that leave the loop.
// source  Measured: ncu's counts for neighbour 05_distances. Tested by tests/meeting_test.cpp and
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
  // A second block, after the loop, for lanes that leave the loop before they reach the inner one.
  std::uint32_t outer = no_block;

  bool operator==(const meeting_point&) const = default;
};

// One entry per block of the body, empty if the block does not end in a branch that may diverge. If
// all targets of a branch stay in a loop and its paths meet only after the loop, the inner block is
// where they meet within an iteration, the header at the latest.
std::vector<meeting_point> meeting_points(const control_flow& flow, const ptx::body& body);

}  // namespace stepwise::emulator
