// Grades the submissions in a results folder: one child per distinct content, several at a time.
//
// idea    DESIGN.md explains how a child's failure is handled, and why nothing is lost if this
//         process is killed.
// Tested by tests/grading_test.cpp with a fake grader, and by tests/batch_cli_test.cpp.
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
  std::vector<std::string> gpus;  // one per child; empty: all children see the visible GPUs
  std::optional<shared_memory_budget> memory;  // shared by the children
  std::string protections;                     // STEPWISE_PROTECTIONS=...; empty: each child probes
  std::vector<std::string> again;              // classes and ids
  bool only_new = false;                       // keep verdicts of other versions
  std::size_t part = 1, parts = 1;             // every `parts`-th content, starting at `part`
  std::function<std::string(const std::filesystem::path&)> shown;  // a path as grades name it
  std::string handout, deeper;                                     // the texts with the questions
};

// Progress, counted in submissions.
struct batch_state {
  std::size_t all = 0, to_grade = 0, done = 0;
  std::map<std::string, std::size_t> classes;  // of all present verdicts
  std::optional<double> left_s;                // an estimate
  bool other_versions = false;                 // some verdicts are from other versions
};

// Calls `changed` after each verdict and about ten times a second, on the caller's thread. A
// failure to write the folder ends the batch; a child's failure becomes INFRA. Returns the last
// state. Throws failure(usage) if an entry of `again` is neither a class nor an id.
batch_state grade(results& in, const grading_options& options,
                  const std::function<void(const batch_state&)>& changed);

}  // namespace stepwise::batch
