// A walk through a lab's versions at the reader's pace: idea, question, Enter, change, answer.
//
// idea    The tour reads lines that end with Enter. Typing errors can be corrected, Ctrl-C and
//         Ctrl-Z work as always, and a screen reader can follow.
// Tested by tests/tour_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

struct tour_stop {
  std::string name, over;              // the step, and the step to compare with, if any
  std::vector<std::string> questions;  // from the handout
  std::function<void()> introduce, show_change;
  // Runs the step and shows its figures. Returns its speedup over `over`, or 0 if unknown.
  std::function<double()> answer;
};

// Visits the stops until the end, or until q or the end of input. Returns true if it reached the
// end. `read_line` returns the typed line, nullopt at the end of input.
bool guide(context& c, const std::vector<tour_stop>& stops,
           const std::function<std::optional<std::string>()>& read_line);

// Whether standard input and standard output are terminals that a person uses.
bool is_for_a_person();
// Reads from the standard input. Throws interrupted.
std::optional<std::string> read_typed_line();

// The questions of a handout that name the step: "R6: In `01_interleaved`, how many ...".
std::vector<std::string> questions_about(std::string_view handout, const std::string& step_name);

}  // namespace stepwise::cli
