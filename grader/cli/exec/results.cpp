// Reads the files that a program on the emulator wrote, and prints them for people or as JSON.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <set>

#include "common/report/finding_text.hpp"
#include "grader/cli/exec/exec.hpp"
#include "grader/cli/profile/program_text.hpp"
#include "grader/cli/profile/timeline_text.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/profile.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

// A line's text comes from the present source, and its counts come from the compiled source.
void note_newer_sources(const fs::path& program, const std::vector<kernel_profile>& kernels) {
  std::set<std::string> sources;
  for (const auto& k : kernels)
    for (const auto& l : k.lines) sources.insert(l.path);
  std::error_code unknown;
  const auto built = fs::last_write_time(program, unknown);
  if (unknown) return;
  for (const auto& source : sources) {
    const auto written = fs::last_write_time(source, unknown);
    if (unknown || written <= built || source.ends_with(".py")) continue;
    exec_note(source + " was changed after " + program.string() +
              " was built; recompile it, or the counts will be shown at the wrong lines");
  }
}

void show_profile(const program_profile& profile, const terminal_style& style) {
  const bool timed = profile.why_none().empty();
  to_stderr(timed ? "\n" : "");
  for (const std::string& line : program_lines(profile, style))
    to_stderr((timed ? "" : "lab: ") + line + "\n");
}

}  // namespace

void to_stderr(const std::string& text) { std::fputs(text.c_str(), stderr); }

void exec_note(const std::string& sentence) { to_stderr("lab: note: " + sentence + "\n"); }

int report_on(const context& c, const exec_options& o, const gpu& model, const fs::path& program,
              const fs::path& folder, int exit_code) {
  const auto found = read_findings(folder / "findings");
  const auto kernels = read_profile(folder / "profile").kernels;
  const program_profile profile{program.string(), model, kernels, read_failure(folder / "profile")};
  const bool complains = !found.empty() || (o.profile && !profile.why_none().empty());
  json document = json::object();
  if (o.check) document = findings_json(found);
  if (o.counters || o.profile) document["kernels"] = profile_document(kernels);
  if (o.profile) document.update(program_json(profile));
  document["event_times"] = o.event_times();
  const bool drawn = o.records_calls() && profile.failed.empty();
  shown_timeline times;
  if (drawn) times = read_timeline(folder / "timeline", program.string(), model);
  if (drawn) document["timeline"] = timeline_json(times);
  if (drawn && !o.trace.empty()) write_atomically(fs::absolute(o.trace), trace_text(times));
  const std::string text = json_text(document, 2) + "\n";
  if (!o.report.empty()) write_atomically(fs::absolute(o.report), text);
  std::fflush(stdout);
  if (c.as_json) {
    to_stderr(text);
    return exit_code == 0 && complains ? 1 : exit_code;
  }
  const terminal_style style = detect_style(STDERR_FILENO, !c.plain);
  if (o.counters && kernels.empty()) exec_note("the run counted no kernel");
  note_newer_sources(program, kernels);
  if (o.counters && !kernels.empty()) to_stderr(fmt::format("\n{}", profile_shown(kernels, style)));
  if (o.profile) show_profile(profile, style);
  if (o.timeline && drawn && profile.why_none().empty()) {
    to_stderr("\n");
    for (const std::string& line : timeline_lines(times, style)) to_stderr(line + "\n");
  }
  if (o.check) {
    if (!found.empty()) to_stderr("\n" + findings_text(found, style, fs::current_path()));
    if (const std::string how = missing_lines_note(found, {}); !how.empty()) exec_note(how);
    to_stderr(fmt::format("lab: {}\n", findings_line(found, style)));
  }
  return exit_code == 0 && complains ? 1 : exit_code;
}

}  // namespace stepwise::cli
