// A graded file: how it is graded, what `lab grade` shows, and its document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/cli/context.hpp"
#include "grader/course/answers.hpp"
#include "grader/course/hints.hpp"
#include "grader/grade/gpu_care.hpp"
#include "grader/grade/grade.hpp"
#include "grader/judge/key.hpp"

namespace stepwise::cli {

struct grade_options {
  std::string lab, file, step;
  std::optional<std::uint64_t> seed;
  bool practice = false;  // in the program's own process, on trust
  std::string key;        // a file; empty: the public key
};

// A file that is being graded. The report points into the lab.
struct graded_file {
  subject what;
  std::string source;  // its text
  device_choice device;
  lab course;                              // with the hidden sizes
  std::uint64_t seed = 0, input_seed = 0;  // as shown; for the inputs
  std::optional<grading_key> key;          // if the grade is judged
  std::vector<lab_size> hidden;
  grade_report report;
  std::optional<time_budget> budget;  // for its calls
  const protections* guards = nullptr;
  std::optional<gpu_care> care;  // if a GPU judges
  std::string published;         // the step whose code it copies; empty if none
  std::string answers_file;      // as shown
  std::optional<answer_count> answers;
  answer_count beyond;  // answers in the lab's deeper.md
};

// Compiles and runs the file, or the step, and reports its progress.
graded_file grade_file(context& c, const lab& of, const grade_options& o);

// Help for the missed goal whose hint comes first in hints.md, which follows the lab's path. The
// help is that hint, and the glossary terms of the goal's counter.
struct help_at_hand {
  int number = 0;  // the hint's number; 0 if there is none, or if the file already uses its idea
  std::string title;
  std::vector<std::string> terms;
};

help_at_hand help_for(const context& c, const lab& l, const grade_report& report);
help_at_hand help_for(const grade_report& report, const std::vector<hint_topic>& topics);

// "80 of 100 points (20 not judged here)". `judged`: the points of the goals that were judged.
std::string points_text(double points, double judged, double all);

std::string remark_text(const graded_file& graded);
bool runs_in_sandbox(const device_choice& device);
const char* trust_of(const device_choice& device);

void show_grade(context& c, const lab& l, const grade_options& o, const graded_file& graded);

// The document of --json.
json graded_json(const context& c, const graded_file& graded, const lab& l);

}  // namespace stepwise::cli
