// Runs programs with all checks on, each in its own process, and reads their findings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/report/located_finding.hpp"

namespace stepwise::check_tests {

struct checked_run {
  int exit_code = -1;  // -1: ended by a signal
  std::vector<located_finding> findings;
};

// Runs `command`, a shell command line that may begin with more variables, and discards its output.
// The exit code is 124 or 137 if the program hangs. STEPWISE_RUNTIME must name the folder of our
// runtime; otherwise this function throws.
checked_run run_checked(const std::string& command, double time_limit_s);

// The same command line, with our runtime.
std::string with_our_runtime(const std::string& command);

// The lines that a program prints with our runtime.
std::vector<std::string> lines_of(const std::string& command);

// Calls task(0), ..., task(count - 1), one per core at a time.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& task);

// "race, 12 writes 4 bytes, 15 reads 4 bytes, ...", for the messages of tests.
std::string in_words(const located_finding& found);

}  // namespace stepwise::check_tests
