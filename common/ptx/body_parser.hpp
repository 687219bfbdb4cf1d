// Parses the text between a function's outer braces.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {

// The parts of the module that a body needs.
struct surroundings {
  // Whether the name is defined in the module's scope.
  std::function<bool(std::string_view)> is_global;
  // The string that begins `offset` bytes after a label in the section .debug_str.
  std::function<std::string_view(std::string_view label, std::int64_t offset)> debug_string;
};

// Parses f.body_text. Adds the names that are created for nested scopes to `names`. The body's
// views point into both. Throws parse_error.
body parse_body(const function& f, const surroundings& module, std::deque<std::string>& names);

}  // namespace stepwise::ptx
