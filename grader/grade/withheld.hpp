// Changes the texts of a judged report before anyone reads them. The program ran under a name that
// is not its file's, and under an instructor's key, students must not see some facts.
//
// Tested by tests/withheld_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "grader/grade/grade.hpp"

namespace stepwise {

struct replacement {
  std::string from, to;
};

// Replaces in every text of the report, in the given order: messages, positions, quoted lines and
// the program's output.
void replace_in(grade_report& report, const std::vector<replacement>& all);

// If the failed call had one of these sizes, only its class and its size remain.
void withhold_details(grade_report& report, const std::vector<lab_size>& hidden);

}  // namespace stepwise
