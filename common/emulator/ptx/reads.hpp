// Which names the instructions of a body read.
#pragma once

#include <string_view>
#include <unordered_set>

#include "common/emulator/ptx/ast.hpp"

namespace stepwise::ptx {

// Registers, variables and labels. Of an instruction with a result, that is its first operand; of
// others every operand counts.
std::unordered_set<std::string_view> names_read(const body& b);

}  // namespace stepwise::ptx
