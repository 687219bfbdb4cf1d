// Whether two sources are the same code under other names, comments and layouts.
//
// idea    Each source is reduced to its words: comments, white space, includes and pragmas go; a
//         name becomes its number in the order of first use, unless it is a keyword or one of
//         CUDA's own. What is equal then differs in nothing that a compiler looks at, but for which
//         names were declared elsewhere.
// watch   A statement that was moved, or a line that was added, makes it another text: this finds
//         copies, and nothing that was worked on. More than that needs a tool for similarity.
// Tested by tests/same_code_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

// Equal for equal code; empty if there is none.
std::string code_without_names(std::string_view source);

// What published_step() compares with: names and texts, in the lab's order. A step's file that
// cannot be read is none.
struct named_text {
  std::string name, text;
};
std::vector<named_text> texts_of_steps(const fs::path& root, const lab& l);

// The step whose code this is; empty if it is none's. Reads no file and has no effect: it may run
// where nothing can be done (system/isolated.hpp).
std::string published_step(const std::vector<named_text>& steps, std::string_view source);

}  // namespace stepwise
