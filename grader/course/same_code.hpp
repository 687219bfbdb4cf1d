// Tests whether two sources are the same code with other names, comments and layouts.
//
// idea    Each source is reduced to its words. Comments, white space, includes and pragmas are
//         removed, and each name that is not a keyword or one of CUDA's own becomes its number in
//         the order of first use. Equal results mean equal code for a compiler, except for names
//         that were declared elsewhere.
// watch   A moved statement or an added line makes another text. This test finds copies, but not
//         edited copies. Finding edited copies would need a similarity tool.
// Tested by tests/same_code_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

// The result is equal for equal code, and empty if the source has no code.
std::string code_without_names(std::string_view source);

// The texts that published_step() compares with, in the lab's order. Unreadable files are omitted.
struct named_text {
  std::string name, text;
};
std::vector<named_text> texts_of_steps(const fs::path& root, const lab& l);

// The step with this code. Empty if there is none. Reads no file and has no effect, so it may run
// in an isolated process (system/isolated.hpp).
std::string published_step(const std::vector<named_text>& steps, std::string_view source);

}  // namespace stepwise
