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
  // The string in the section .debug_str, `offset` bytes after a label.
  std::function<std::string_view(std::string_view label, std::int64_t offset)> debug_string;
};

// `names` owns the names that are created for nested scopes; the body's views point into it and
// into f.body_text. Throws parse_error.
body parse_body(const function& f, const surroundings& module, std::deque<std::string>& names);

}  // namespace stepwise::ptx
