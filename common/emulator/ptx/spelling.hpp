// Instructions in messages.
#pragma once

#include <string>

#include "common/emulator/ptx/ast.hpp"

namespace stepwise::ptx {

// "ld.global.v4.f32": on one line, whatever blanks and comments its text has, and shortened.
std::string spelled(const instruction& i);

}  // namespace stepwise::ptx
