// One file and its grade: what `lab grade` shows, and its document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/cli/context.hpp"
#include "grader/course/answers.hpp"
#include "grader/grade/gpu_care.hpp"
#include "grader/grade/grade.hpp"
#include "grader/judge/key.hpp"

namespace stepwise::cli {

// One file while it is graded. The report points into the lab.
struct graded_file {
  subject what;
  std::string source;  // its text
  device_choice device;
  lab course;                              // with the hidden sizes
  std::uint64_t seed = 0, input_seed = 0;  // as it is shown; of the inputs
  std::optional<grading_key> key;          // of a judged grade
  std::vector<lab_size> hidden;
  grade_report report;
  std::optional<time_budget> budget;  // of its calls
  const protections* guards = nullptr;
  std::optional<gpu_care> care;  // of a GPU that judges
  std::string published;         // the step whose code it is; empty: none
  std::string answers_file;      // as it is shown
  std::optional<answer_count> answers;
  answer_count beyond;  // of the lab's deeper.md
};

// What helps with the first goal that is missed: a hint, and the term that its counter is about.
struct help_at_hand {
  int number = 0;  // of the hint; 0: there is none
  std::string title;
  std::vector<std::string> terms;
};

help_at_hand help_for(const context& c, const lab& l, const grade_report& report);

std::string remark_text(const graded_file& graded);
bool runs_in_sandbox(const device_choice& device);
const char* trust_of(const device_choice& device);

json graded_json(const context& c, const graded_file& graded, const lab& l);

}  // namespace stepwise::cli
