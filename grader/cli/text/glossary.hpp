// The metrics that lectures and older profilers speak of: what they are, ncu's name today, and
// where `lab profile` has them.
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
  const char* older;    // of nvprof, or of the visual profilers
  const char* ncu;      // today; empty: there is none
  const char* formula;  // what it is
  const char* ours;     // where lab profile has it
};

// All entries, in the order of grader/GLOSSARY.md.
std::span<const glossary_entry> glossary();

// For a terminal; the whole file in Markdown; for --json.
std::vector<std::string> glossary_lines(const terminal_style& style);
std::string glossary_markdown();  // all of grader/GLOSSARY.md
json glossary_json();

}  // namespace stepwise::cli
