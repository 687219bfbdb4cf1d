// The blocks of a function as ptxas sees them when it fuses products into sums.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/ast.hpp"
#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

// Chains of blocks that ptxas joins: the next block is the only successor, and has no other
// predecessor. A chain follows the chains that dominate it. Unreachable blocks are in no chain.
std::vector<std::vector<std::uint32_t>> joined_blocks(const ptx::body& body,
                                                      const control_flow& flow);

}  // namespace stepwise::emulator
