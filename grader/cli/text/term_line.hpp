// The glossary terms that explain findings, counters and goals, and the line that lists them.
//
// Tested by labs/tests/glossary_test.cpp (the glossary has them) and cli/tests/texts_cli_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/report/located_finding.hpp"
#include "common/report/profile.hpp"
#include "grader/course/goal_counter.hpp"

namespace stepwise::cli {

// Names as `lab explain` accepts them. Lists are free of duplicates, the most important term first.
const char* term_of(finding_kind kind);
const char* term_of(const goal_counter& counter);
std::vector<std::string> terms_of(const std::vector<located_finding>& findings);
std::vector<std::string> terms_of(const std::vector<kernel_profile>& kernels);

// "./lab explain race, barrier", with at most three terms. Empty if there are no terms.
std::string explain_text(const std::vector<std::string>& terms);

}  // namespace stepwise::cli
