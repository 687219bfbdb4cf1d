// Which terms of the glossary findings, counters and goals speak of, and the line that says so.
//
// Tested by labs/tests/glossary_test.cpp (the glossary has them) and cli/tests/texts_cli_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/report/located_finding.hpp"
#include "common/report/profile.hpp"
#include "grader/course/goal_counter.hpp"

namespace stepwise::cli {

// Names as `lab explain` takes them; those of several are distinct, the most important first.
const char* term_of(finding_kind kind);
const char* term_of(const goal_counter& counter);
std::vector<std::string> terms_of(const std::vector<located_finding>& findings);
std::vector<std::string> terms_of(const std::vector<kernel_profile>& kernels);

// "./lab explain race, barrier", of three terms at most; empty if there are none.
std::string explain_text(const std::vector<std::string>& terms);

}  // namespace stepwise::cli
