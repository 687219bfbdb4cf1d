// A program in our place: it has our terminal, streams and signals, and we end as it ends.
//
// idea    The opposite of `child`: nothing is read, bounded or limited. It stays in our process
//         group, so that the terminal's Ctrl-C, Ctrl-\ and Ctrl-Z reach it by themselves; what is
//         sent to us alone is handed on.
// Tested by cli/tests/exec_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

struct foreground_end {
  int signal = 0;     // 0: it ended by itself
  int exit_code = 0;  // 128 + signal where a signal ended it
};

// Runs `program` as `command` (with argv[0]) and `environment` changes ("NAME=value") to its end.
// Throws failure(usage) if it cannot be started.
foreground_end run_in_foreground(const fs::path& program, const std::vector<std::string>& command,
                                 const std::vector<std::string>& environment);

}  // namespace stepwise
