// Grades what a results folder holds: a child for each distinct content, several at a time.
//
// idea    DESIGN.md says how a child's failure is handled, and why nothing is lost if this process
//         is killed.
// Tested by tests/grading_test.cpp with a program in place of the grader, and by
// tests/batch_cli_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/batch/results.hpp"
#include "grader/course/lab.hpp"
#include "grader/system/admission.hpp"

namespace stepwise::batch {

struct grading_options {
  std::vector<std::string> command;  // lab grade LAB --json ..., without --file
  verdict_key versions;
  std::size_t jobs = 1;
  std::vector<std::string> gpus;  // one for each child; empty: all see what is visible here
  std::optional<shared_memory_budget> memory;  // that the children share
  std::vector<std::string> again;              // classes and ids
  bool only_new = false;                       // verdicts of other versions stay
  std::size_t part = 1, parts = 1;             // every parts-th content, from the part-th on
  std::function<std::string(const std::filesystem::path&)> shown;  // a path, as grades name it
  std::string handout, deeper;  // texts with the questions that answers answer
};

// Progress; the counts are of submissions.
struct batch_state {
  std::size_t all = 0, to_grade = 0, done = 0;
  std::map<std::string, std::size_t> classes;  // of all that have a verdict now
  std::optional<double> left_s;                // an estimate
  bool other_versions = false;                 // some verdicts were of other versions
};

// `changed` after each verdict and about ten times a second, on the caller's thread. Failures to
// write the folder end it; those of a child become INFRA. Returns the last state. failure(usage) if
// something of `again` is no class and no id.
batch_state grade(results& in, const grading_options& options,
                  const std::function<void(const batch_state&)>& changed);

}  // namespace stepwise::batch
