// The branch targets that decide whether lanes reach a block.
//
// source  J. Ferrante, K. Ottenstein, J. Warren: The Program Dependence Graph and Its Use in
//         Optimization, ACM TOPLAS 9(3), 1987, on control dependence. Tested by
//         tests/dependence_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

// The deciding successors of every block, in ascending order. A successor decides if it leads to a
// `wanted` block, or to another deciding branch, that the block's other successors may avoid. The
// lists are empty if finding them would take more than 64 steps per block and edge.
std::vector<std::vector<std::uint32_t>> ways_towards(const control_flow& flow,
                                                     const std::vector<std::uint32_t>& wanted);

}  // namespace stepwise::emulator
