// Changes the texts of a judged report before anyone reads them. The program ran under a name that
// is not its file's, and under an instructor's key some facts are kept from students.
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

// Replaces in every text of the report, in the given order: messages, places, quoted lines and what
// the program printed.
void replace_in(grade_report& report, const std::vector<replacement>& all);

// If the call that failed had one of these sizes, only its class and its size remain.
void withhold_details(grade_report& report, const std::vector<lab_size>& hidden);

}  // namespace stepwise
