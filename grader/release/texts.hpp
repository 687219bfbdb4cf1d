// Texts of the course as a student copy has them.
// Tested by tests/release_test.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

// Markdown without what gives answers away or is not there: generated tables of what was measured
// (between `<!-- NAME:begin -->` and `<!-- NAME:end -->`) become a sentence, comments that check
// figures go, links and pictures whose file `is_there` denies keep their words only, and commands
// that name a file of solutions/ say so. `file` is the text's own place, from the root, and
// `is_there` is asked of paths from the root.
std::string student_markdown(std::string_view text, const fs::path& file,
                             const std::function<bool(const fs::path&)>& is_there);

// hints.md with at most the first `parts` parts of each topic.
std::string shorter_hints(std::string_view text, int parts);

// steps.txt of a student copy: names, what each is over, and ideas, which the copy has no other
// place for. What is promised is left out.
std::string student_steps(const std::vector<step>& steps);

}  // namespace stepwise
