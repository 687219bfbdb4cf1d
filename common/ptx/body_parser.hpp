// Parses the text between a function's outer braces.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {

// What a body needs to know of its module.
struct surroundings {
  // Whether a name means something in the module's scope.
  std::function<bool(std::string_view)> is_global;
  // The string in the section .debug_str that a label names, `offset` bytes after it.
  std::function<std::string_view(std::string_view label, std::int64_t offset)> debug_string;
};

// `names` keeps the names that are made up for nested scopes; the body's views point into it and
// into f.body_text. Throws parse_error.
body parse_body(const function& f, const surroundings& module, std::deque<std::string>& names);

}  // namespace stepwise::ptx
