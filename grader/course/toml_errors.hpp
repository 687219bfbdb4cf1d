// What is wrong with a TOML file of the course, said with its place.
#pragma once

#include <string>

#include "common/formats/toml.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {

// A mistake of the course's, not of the user's.
[[noreturn]] inline void fail(const std::string& where, const std::string& what) {
  throw failure(exit_code::ours, where + ": " + what);
}

// "labs/matmul/lab.toml:12"
inline std::string at_line(const std::string& origin, const toml_value& value) {
  return origin + ":" + std::to_string(value.line);
}

}  // namespace stepwise
