// Which registers of a function depend on special registers: a clock, a word of the driver's.
//
// idea    The order of the instructions does not matter: a register that any instruction computes
//         from one that depends, depends. Values that pass through memory or through a call do not
//         count, nor does which way a branch goes.
//         Tested by tests/influence_test.cpp.
#pragma once

#include <string_view>
#include <unordered_set>

#include "common/ptx/ast.hpp"

namespace stepwise::emulator {

std::unordered_set<std::string_view> registers_influenced_by(
    const ptx::body& b, const std::unordered_set<std::string_view>& specials);

}  // namespace stepwise::emulator
