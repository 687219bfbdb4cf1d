// The guided analysis of any program: its kernels, then what holds back the one that takes longest.
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
  std::string failed;  // what became of a kernel that failed, in words

  // Why there is no time; empty if there is one.
  std::string why_none() const;
};

// A sentence where there is no time.
std::vector<std::string> program_lines(const program_profile& of, const terminal_style& style);
// time_ms, time_kind, modelled_as, failed; of a program that has a time also launched, analysis,
// advice.
json program_json(const program_profile& of);

}  // namespace stepwise::cli
