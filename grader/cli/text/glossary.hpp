// The metrics of lectures and older profilers: their meaning, their present ncu names, and where
// `lab profile` shows them.
//
// source  nvprof's names and their successors: Nsight Compute CLI, "Nvprof Transition Guide";
//         meanings: CUDA Profiler User's Guide, Nsight Compute Profiling Guide.
// Tested by cli/tests/profile_cli_test.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

struct glossary_entry {
  const char* name;     // as in lectures: "achieved occupancy"
  const char* older;    // in nvprof or the visual profilers
  const char* ncu;      // present name; empty if there is none
  const char* formula;  // definition
  const char* ours;     // where lab profile shows it
};

// All entries, in the order of grader/GLOSSARY.md.
std::span<const glossary_entry> glossary();

// As text for a terminal, as a whole Markdown file, and for --json.
std::vector<std::string> glossary_lines(const terminal_style& style);
std::string glossary_markdown();  // all of grader/GLOSSARY.md
json glossary_json();

}  // namespace stepwise::cli
