// The release plan: a small file with the labs for students and their opening days.
//
//   course = "GPUs, autumn 2026"     the heading of the copy's README.md; optional
//   [labs.first]                     open immediately
//   [labs.reduction]
//   opens = "2026-10-15"             before that day (UTC) the copy has only its date
//   due = "2026-10-29"               shown to students; nothing depends on it
//   skeletons = ["04_first_add"]     further skeletons that `lab start` can create
//   hint_parts = 3                   with "nearly the code"; 1 to 3, 2 by default
//
// idea    Dates are days in a format whose text order is also their order in time. A later copy,
//         made into the same repository, adds the labs that have opened since.
// Tested by tests/release_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

struct released_lab {
  std::string name;
  std::string opens, due;              // "2026-10-15"; empty: immediately, not shown
  std::vector<std::string> skeletons;  // steps; empty: only the lab's own
  int hint_parts = 2;                  // a nudge and the idea; the third is most of the code

  bool is_open_on(std::string_view day) const { return opens.empty() || opens <= day; }
};

struct release_plan {
  std::string course;
  std::vector<released_lab> labs;  // in the labs' order

  // The labs that are open on that day.
  std::vector<released_lab> open_on(std::string_view day) const;
};

// "2026-10-15", and an existing day.
bool is_day(std::string_view text);

// Throws failure(usage), which names the line and the key of an error. `labs` are the course's.
release_plan parse_plan(std::string_view text, const std::string& origin,
                        const std::vector<lab>& labs);
// All labs, open immediately.
release_plan plan_of_all(const std::vector<lab>& labs);

}  // namespace stepwise
