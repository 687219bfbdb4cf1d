// Checks that a program is right: calls it at every check size with new inputs, and compares the
// results.
//
// Tested by tests/session_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/lab/problem.hpp"
#include "common/report/located_finding.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/verdict.hpp"

namespace stepwise {

struct activity {
  std::function<void(const std::string&)> doing = [](const std::string&) {};
  std::function<void()> tick = [] {};
};

struct check_report {
  call_outcome found;              // the first call that is not right
  std::string label;               // that call: "n = 1023, seed 7"
  std::optional<lab_size> size;    // of that call
  std::vector<std::string> right;  // the labels before it
  std::size_t total = 0;
  std::uint64_t seed = 0;
  std::string printed;                    // the program's output
  std::vector<located_finding> findings;  // from the emulator's checks, if they were on
  // The label of the larger call that the findings belong to, if a grade's checks found nothing at
  // the small sizes.
  std::string large;
  // Whether `found` names a cause that only further calls with other inputs have shown.
  bool explained_by_calls = false;

  bool correct() const { return found.ok(); }
};

// Stops at the first size that is not right. Sizes run in the given order, usually smallest first,
// because the smallest counterexample is the easiest to understand.
check_report check_program(const lab& l, const problem& p, const std::filesystem::path& program,
                           const device_choice& device, const std::vector<lab_size>& sizes,
                           std::uint64_t seed, const activity& now);

// Like check_program(), with all of the emulator's checks on. `device` must be the emulator.
check_report check_thoroughly(const lab& l, const problem& p, const std::filesystem::path& program,
                              const device_choice& device, const std::vector<lab_size>& sizes,
                              std::uint64_t seed, const activity& now);

// The findings that decide the verdict. Copies of unwritten memory to the host are omitted, because
// a wrong result says more. A known pattern in the result names the wrong index, so it says more
// than two findings that follow from it: threads store to one element of global memory, and a
// header of the course reads what the student's kernel did not write. If no other error remains,
// these findings are omitted, too, unless only further calls have shown the pattern.
std::vector<located_finding> deciding_findings(const check_report& report);

// A call with inputs of this size. Throws failure(usage) if the problem has no such size, and
// failure(environment) if the inputs do not fit in memory.
problem_call call_of_size(const problem& p, const lab_size& size, std::uint64_t seed);

// The lab's check sizes that are small enough for check_thoroughly(), in order. At least one.
std::vector<lab_size> small_sizes(const lab& l, const problem& p);

// The lab's problem, loaded from the build. Throws failure(ours) if it cannot be loaded.
const problem& problem_of(const lab& l, const installation& where);

}  // namespace stepwise
