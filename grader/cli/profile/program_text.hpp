// The guided analysis of any program: its kernels, then the limits of the slowest one.
// Tested by cli/tests/exec_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/cli/profile/profile_view.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

struct program_profile {
  std::string program;
  gpu model;
  std::vector<kernel_profile> kernels;
  std::string failed;  // describes the failure of a kernel, if any

  // The reason why there is no time; empty if there is a time.
  std::string why_none() const;
};

// A single sentence if there is no time.
std::vector<std::string> program_lines(const program_profile& of, const terminal_style& style);
// The keys time_ms, time_kind, modelled_as and failed. If the program has a time, also the keys
// launched, analysis and advice.
json program_json(const program_profile& of);

}  // namespace stepwise::cli
