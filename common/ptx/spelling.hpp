// Instructions in messages.
#pragma once

#include <string>

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {

// "ld.global.v4.f32": on one line, shortened, without the spaces and comments of its text.
std::string spelled(const instruction& i);

}  // namespace stepwise::ptx
