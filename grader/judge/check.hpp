// Is a program right? Calls it at every check size, each with fresh inputs, and compares.
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
  call_outcome found;              // of the first call that is not right
  std::string label;               // of that call: "n = 1023, seed 7"
  std::optional<lab_size> size;    // of that call
  std::vector<std::string> right;  // the labels before it
  std::size_t total = 0;
  std::uint64_t seed = 0;
  std::string printed;                    // by the program
  std::vector<located_finding> findings;  // of the emulator's checks, if they were on
  // What these checks do not follow, so that their silence about it means nothing.
  std::vector<located_finding> not_followed;

  // The label of the larger call that the findings belong to, if a grade's checks found nothing at
  // the small sizes.
  std::string large;

  bool correct() const { return found.ok(); }
};

// Stops at the first size that is not right. Sizes run in the given order, smallest first by
// custom: the smallest counterexample is the easiest to think about.
check_report check_program(const lab& l, const problem& p, const std::filesystem::path& program,
                           const device_choice& device, const std::vector<lab_size>& sizes,
                           std::uint64_t seed, const activity& now);

// The same with all of the emulator's checks on; `device` must be the emulator.
check_report check_thoroughly(const lab& l, const problem& p, const std::filesystem::path& program,
                              const device_choice& device, const std::vector<lab_size>& sizes,
                              std::uint64_t seed, const activity& now);

// Of a lab's check sizes those whose buffers are small enough for that, in order; at least one.
std::vector<lab_size> small_sizes(const lab& l, const problem& p);

// The lab's problem, loaded from the build; failure(ours) if that is impossible.
const problem& problem_of(const lab& l, const installation& where);

}  // namespace stepwise
