// Reports an error in a TOML file of the course with its position.
#pragma once

#include <string>

#include "common/formats/toml.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {

// An error in the course's files, not the user's.
[[noreturn]] inline void fail(const std::string& where, const std::string& what) {
  throw failure(exit_code::ours, where + ": " + what);
}

// "labs/matmul/lab.toml:12"
inline std::string at_line(const std::string& origin, const toml_value& value) {
  return origin + ":" + std::to_string(value.line);
}

}  // namespace stepwise
