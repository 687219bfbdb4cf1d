// A timeline in the terminal, as JSON, and as a trace that Perfetto and chrome://tracing open.
//
// source  "Trace Event Format" (Google, 2016): complete events ("X"), times in microseconds.
// Tested by cli/tests/timeline_cli_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/model/timeline.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

struct shown_timeline {
  std::string title;  // names the program or step
  std::string gpu;    // "NVIDIA H200"
  timeline t;
  transfer_rates rates;
  std::uint64_t dropped = 0;  // requests beyond the most that are kept
};

// Reads the file that the program wrote. Empty if the program requested nothing or left no file.
shown_timeline read_timeline(const std::filesystem::path& file, const std::string& title,
                             const gpu& model);

std::vector<std::string> timeline_lines(const shown_timeline& of, const terminal_style& style);
json timeline_json(const shown_timeline& of);
std::string trace_text(const shown_timeline& of);

}  // namespace stepwise::cli
