// The course's texts in a student copy.
// Tested by tests/release_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/release/commands.hpp"

namespace stepwise {

// Markdown without answers and references to missing files. Generated tables of measurements
// (between `<!-- NAME:begin -->` and `<!-- NAME:end -->`) become a sentence, comments that check
// figures are removed, links and pictures keep only their words if the copy lacks their file, and
// commands that the copy cannot execute are marked. `file` is relative to the root.
std::string student_markdown(std::string_view text, const fs::path& file, const copy_files& files);

// hints.md with at most the first `parts` parts of each topic.
std::string shorter_hints(std::string_view text, int parts);

// steps.txt of a student copy: names, baselines, and ideas, which no other file of the copy has.
// Promises are omitted.
std::string student_steps(const std::vector<step>& steps);

}  // namespace stepwise
