// A run of any program on the emulator, for `lab exec`: options, environment, results.
//
// Tested by cli/tests/exec_test.cpp, exec_advice_test.cpp and exec_profile_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/device/gpu.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/recorded/choice.hpp"

namespace stepwise::cli {

struct exec_options {
  std::string gpu;  // empty: STEPWISE_GPU, else the runtime's own choice
  std::optional<double> time_limit_s;
  bool check = false;     // enable all of the emulator's checks
  bool counters = false;  // count line by line
  bool profile = false;   // count, and model the time
  bool time = false;      // model the time for its events
  bool as_gpu = false;    // accept wrong addresses that a GPU accepts
  bool late = false;      // delay asynchronous work
  bool timeline = false;  // needs profile
  std::string trace;      // a file for the timeline; empty: none
  std::string record;     // a file for a recorded warp; empty: none
  recorded_choice recorded;
  std::string report;  // a file for the results, as JSON; empty: none

  bool watched() const { return check || counters || profile; }
  bool timed() const { return profile || time; }
  // Source of the program's event times (common/runtime/event_times.hpp).
  const char* event_times() const { return timed() ? "modelled" : "emulation"; }
  bool records_calls() const { return timeline || !trace.empty(); }
};

// Writes text after the program's own output. The caller may have closed stderr, which must not end
// this process.
void to_stderr(const std::string& text);
void exec_note(const std::string& sentence);

// Finds a program as a shell does: on PATH if the word has no slash. Throws failure(usage).
fs::path find_program(const std::string& word);

// The environment in which the program finds our runtime. Throws failure(usage) if the program
// cannot work on the emulator, and failure(environment) if our runtime is not built.
std::vector<std::string> prepare_exec(const fs::path& program, const gpu& model,
                                      const installation& where);

// Shows findings and counts, which the program left in `folder`, after the program's own output.
// Returns 1 if the program succeeded but something was found or could not be profiled; otherwise,
// the program's exit code.
int report_on(const context& c, const exec_options& o, const gpu& model, const fs::path& program,
              const fs::path& folder, int exit_code);

}  // namespace stepwise::cli
