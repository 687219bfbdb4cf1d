// Runs programs with all checks on, each in a process of its own, and reads what was found.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/report/located_finding.hpp"

namespace stepwise::check_tests {

struct checked_run {
  int exit_code = -1;  // -1: ended by a signal
  std::vector<located_finding> findings;
  std::vector<located_finding> not_followed;  // what the checks cannot judge: no mistakes
};

// `command` is a line for the shell, which may begin with further variables. Ends with 124 or 137
// if the program hangs. What the program prints is
// thrown away. STEPWISE_RUNTIME names the folder of our runtime; throws where it is not set.
checked_run run_checked(const std::string& command, double time_limit_s);

// The same line for the shell, with our runtime.
std::string with_our_runtime(const std::string& command);

// Lines of what a program prints with our runtime.
std::vector<std::string> lines_of(const std::string& command);

// task(0), ..., task(count - 1), as many at a time as there are cores.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& task);

// "race, 12 writes 4 bytes, 15 reads 4 bytes, ...": for messages of tests.
std::string in_words(const located_finding& found);

}  // namespace stepwise::check_tests
