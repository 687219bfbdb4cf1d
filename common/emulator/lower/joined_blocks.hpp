// The blocks of a function as ptxas has them when it fuses products into sums.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/ast.hpp"
#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

// Chains of blocks that ptxas joins: one that continues in the next only, which nothing else leads
// to. A chain follows those that dominate it; blocks that nothing reaches are in none.
std::vector<std::vector<std::uint32_t>> joined_blocks(const ptx::body& body,
                                                      const control_flow& flow);

}  // namespace stepwise::emulator
