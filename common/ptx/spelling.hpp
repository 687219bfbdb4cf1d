// Instructions in messages.
#pragma once

#include <string>

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {

// "ld.global.v4.f32": on one line, without the spaces and comments of its text, and shortened.
std::string spelled(const instruction& i);

}  // namespace stepwise::ptx
