// A walk through a lab's versions at the reader's pace: idea, question, Enter, change, answer.
//
// idea    Lines and the Enter key, as the terminal has them: whatever is typed can be corrected,
//         Ctrl-C and Ctrl-Z do what they always do, and a screen reader reads along.
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
  std::string name, over;              // the step, and the one that it is compared with, if any
  std::vector<std::string> questions;  // of the handout
  std::function<void()> introduce, show_change;
  // Runs it and shows its figures; how many times as fast as `over`, 0 if that is not known.
  std::function<double()> answer;
};

// Goes from stop to stop until the end, or until q or the end of the input. True: the end was
// reached. `read_line` gives what was typed, nothing at the end of the input.
bool guide(context& c, const std::vector<tour_stop>& stops,
           const std::function<std::optional<std::string>()>& read_line);

// Both ends are a terminal that people read.
bool is_for_a_person();
// From the standard input. Throws interrupted.
std::optional<std::string> read_typed_line();

// The questions of a handout that name the step: "R6: In `01_interleaved`, how many ...".
std::vector<std::string> questions_about(std::string_view handout, const std::string& step_name);

}  // namespace stepwise::cli
