// The progress of the student's own files, and the command that comes next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/cli/context.hpp"
#include "grader/course/progress.hpp"

namespace stepwise::cli {

// Records the result of a command (`by`) for the student's own file, but not for other files or
// steps. `goals` is given if its goals were judged. It has the names of the goals that the file
// met, and its points.
struct goals_met {
  std::vector<std::string> names;
  double points = 0;
};
void remember_own(const context& c, const lab& l, const subject& s, const char* by, verdict found,
                  const std::optional<goals_met>& goals = {});

// The state of the student's file in a lab.
struct own_file {
  std::string state;                  // "not started", "skeleton of 03_tiled", "in progress"
  std::string skeleton;               // the step, if the file is its untouched skeleton
  std::optional<lab_progress> known;  // the last result, perhaps of an earlier text
  bool is_current = false;            // the result is that of the present text
  bool is_packed = false;             // the present text is in the archive

  // Whether the last judged goals are those of the present text.
  bool goals_are_current() const { return is_current && known->text_of_goals == known->text; }
  bool has_goals() const { return known && !known->text_of_goals.empty(); }
};
own_file state_of(const context& c, const lab& l, const course_progress& all);

struct next_command {
  std::string command, why;  // "./lab run first", "tests the file as it is now"
};
// The next command for this lab. Empty if the present text is packed, which completes the lab.
std::optional<next_command> next_in_lab(const lab& l, const own_file& own);
// The next command for this lab or, if this lab is complete, for the next incomplete lab in the
// course's order. Empty if all labs are complete.
std::optional<next_command> next_in_course(const context& c, const lab& l);
// Prints "  next     ./lab run first   tests the file", with the reason on a line of its own if the
// terminal is narrow.
void say_labelled(context& c, const char* label, const std::string& command,
                  const std::string& why = {});
void say_next(context& c, const next_command& next);
// Prints the next command as the last line of a command's output.
void show_next(context& c, const lab& l);

}  // namespace stepwise::cli
