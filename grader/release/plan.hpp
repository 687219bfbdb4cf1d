// What is released to students, and from when on: a small file.
//
//   course = "GPUs, autumn 2026"     the heading of the copy's README.md; may be left out
//   [labs.first]                     open at once
//   [labs.reduction]
//   opens = "2026-10-15"             before that day (UTC) the copy has its date only
//   due = "2026-10-29"               told to students; nothing depends on it
//   skeletons = ["04_first_add"]     that `lab start` makes beside the lab's own
//   hint_parts = 3                   with "nearly the code"; 1 to 3, 2 if left out
//
// idea    Dates are days, written so that text order is the order of time. A copy made later, into
//         the same repository, has what has opened since.
// Tested by tests/release_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

struct released_lab {
  std::string name;
  std::string opens, due;              // "2026-10-15"; empty: at once, not told
  std::vector<std::string> skeletons;  // steps; empty: the lab's own
  int hint_parts = 2;                  // a nudge and the idea; the third is nearly the code

  bool is_open_on(std::string_view day) const { return opens.empty() || opens <= day; }
};

struct release_plan {
  std::string course;
  std::vector<released_lab> labs;  // by the labs' order

  // Those that are open on that day.
  std::vector<released_lab> open_on(std::string_view day) const;
};

// "2026-10-15", and a day that there is.
bool is_day(std::string_view text);

// failure(usage) names line and key where something is wrong; `labs` are those of the course.
release_plan parse_plan(std::string_view text, const std::string& origin,
                        const std::vector<lab>& labs);
// All labs, open at once.
release_plan plan_of_all(const std::vector<lab>& labs);

}  // namespace stepwise
