// The metrics of lectures and older profilers: their meaning, their present ncu names, and where
// `lab profile` shows them.
//
// source  nvprof's names and their successors: Nsight Compute CLI, "Nvprof Transition Guide";
//         meanings: CUDA Profiler User's Guide, Nsight Compute Profiling Guide.
// Tested by cli/tests/profile_cli_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

struct glossary_entry {
  std::string name;     // as in lectures: "achieved occupancy"
  std::string older;    // in nvprof or the visual profilers
  std::string ncu;      // present name; empty if there is none
  std::string formula;  // definition
  std::string ours;     // where lab profile shows it
};

// All of grader/GLOSSARY.md, compiled in.
extern const std::string_view glossary_text;

// The entries of its table.
const std::vector<glossary_entry>& glossary();

// The glossary as text for a terminal, and for --json.
std::vector<std::string> glossary_lines(const terminal_style& style);
json glossary_json();

}  // namespace stepwise::cli
