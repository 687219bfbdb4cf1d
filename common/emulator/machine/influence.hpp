// Finds a function's registers that depend on special registers: a clock, or one of the driver's.
//
// idea    The order of the instructions does not matter. If any instruction computes a register
//         from a dependent register, the result is dependent, too. Values that pass through memory
//         or through a call do not count, and neither does the direction of a branch.
//         Tested by tests/influence_test.cpp.
#pragma once

#include <string_view>
#include <unordered_set>

#include "common/ptx/ast.hpp"

namespace stepwise::emulator {

std::unordered_set<std::string_view> registers_influenced_by(
    const ptx::body& b, const std::unordered_set<std::string_view>& specials);

}  // namespace stepwise::emulator
