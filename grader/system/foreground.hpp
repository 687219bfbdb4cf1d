// Runs a program in our place, with our terminal, streams, signals and end.
//
// idea    This is the opposite of `child`: no output is read, and nothing is limited. The program
//         stays in our process group, so the terminal's Ctrl-C, Ctrl-\ and Ctrl-Z reach it
//         directly. Signals that only we receive are forwarded.
// Tested by cli/tests/exec_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

struct foreground_end {
  int signal = 0;     // 0: it exited
  int exit_code = 0;  // 128 + signal if a signal ended it
};

// Runs `program` to its end as `command` (with argv[0]) and with `environment` changes
// ("NAME=value"). Throws failure(usage) if it cannot be started.
foreground_end run_in_foreground(const fs::path& program, const std::vector<std::string>& command,
                                 const std::vector<std::string>& environment);

}  // namespace stepwise
