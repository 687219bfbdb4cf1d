// lab exec: runs any program that nvcc built with the shared CUDA runtime on the emulator.
//
// idea    The program replaces this process, so its streams, signals and exit status are its own.
#include "grader/cli/exec/exec.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "common/device/engine_settings.hpp"
#include "grader/cli/verb.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/profile.hpp"
#include "grader/system/files.hpp"
#include "grader/system/foreground.hpp"
#include "grader/system/process.hpp"

namespace stepwise::cli {
namespace {

// The GPU of --gpu, otherwise the GPU of STEPWISE_GPU, otherwise the runtime's own choice.
gpu wanted_gpu(const std::string& asked) {
  const auto settings = engine_settings::from_environment();
  const bool from_environment = asked.empty() && !settings.gpu.empty();
  const auto found = find_gpu(!asked.empty() ? asked : settings.gpu_or_default());
  if (!found.ok()) {
    refuse((from_environment ? "STEPWISE_GPU: " : "--gpu: ") + found.failure().message);
  }
  return *found;
}

void say_recorded(const std::string& file) {
  std::error_code none;
  if (fs::file_size(file, none) == 0 || none)
    return exec_note("nothing was recorded: the program has no such launch");
  const warp_recording r = read_recording(file);
  if (r.steps.empty())
    return exec_note("nothing was recorded: the launch has no such block or warp");
  exec_note(kept_text(r) + "; ./lab play " + file);
}

int exec(context& c, const exec_options& o) {
  if (c.program.empty()) {
    refuse("name a program: ./lab exec -- PROGRAM ARGS\n`./lab exec --help` shows the usage");
  }
  if (c.request == device_request::gpu) {
    refuse("exec runs programs on the emulator; to use a GPU, start the program without ./lab");
  }
  if (o.time_limit_s && !(*o.time_limit_s > 0))
    refuse("--time-limit: expected a number of seconds above 0");
  const gpu model = wanted_gpu(o.gpu);
  const fs::path program = find_program(c.program[0]);
  auto environment = prepare_exec(program, model, c.where);
  if (!o.watched() && !o.report.empty())
    refuse("--report writes the results of --check, --counters or --profile: add one of them");
  if (o.as_gpu && o.check)
    refuse("--check reports errors that --as-gpu ignores: use only one of them");
  if (o.late && (o.watched() || o.time))
    refuse("--late works only in plain runs: remove --check, --counters, --profile and --time");
  if (o.records_calls() && !o.profile)
    refuse("--timeline and --trace need the kernel times of --profile: add --profile");
  for (const std::string& file : {o.report, o.trace, o.record})
    if (!file.empty()) require_writable(fs::absolute(file));
  std::optional<temporary_folder> folder;
  if (o.watched()) folder.emplace(fs::temp_directory_path());
  auto settings = engine_settings::from_environment();
  settings.gpu = model.id;
  settings.suggest_check = !o.check;
  settings.addresses = o.as_gpu ? "gpu" : "";
  settings.late = o.late;
  if (o.time_limit_s) settings.time_limit_s = *o.time_limit_s;
  if (o.check) {
    settings.check = true;
    settings.findings = folder->path() / "findings";
  }
  if (o.counters || o.timed()) {
    settings.counters = true;
    settings.profile = folder ? (folder->path() / "profile").string() : "/dev/null";
  }
  std::error_code absent;
  if (!o.record.empty()) fs::remove(o.record, absent);  // from an earlier run
  settings.record = o.record.empty() ? "" : fs::absolute(o.record).string();
  settings.record_of = o.record.empty() ? "" : words_of(o.recorded);
  settings.timeline = o.records_calls() ? (folder->path() / "timeline").string() : "";
  settings.times = o.profile ? "whole,experiments" : o.time ? "whole" : "";
  // With --json, the setting is a key of the printed document.
  settings.event_times = std::string(o.event_times()) + (o.watched() && c.as_json ? ",quiet" : "");
  std::ranges::move(settings.environment(), std::back_inserter(environment));
  const auto end = run_in_foreground(program, c.program, environment);
  if (end.signal != 0) {
    to_stderr(fmt::format("lab: {} was ended by a signal: {}\n", program.string(),
                          signal_text(end.signal)));
  }
  if (!o.record.empty()) say_recorded(o.record);
  return o.watched() ? report_on(c, o, model, program, folder->path(), end.exit_code)
                     : end.exit_code;
}

const verb exec_verb(
    {verb_place::group::examine, 50}, "exec", "run any CUDA program on the emulator",
    "  nvcc --cudart=shared -arch=sm_90 -o saxpy saxpy.cu\n"
    "  ./lab exec ./saxpy 1000                  arguments after PROGRAM go to the program\n"
    "  ./lab exec --time-limit 5 -- ./saxpy -v  a kernel may take 5 seconds\n"
    "  ./lab exec --check ./saxpy               also report errors (nvcc -lineinfo -Xcompiler -g1 "
    "adds source lines)\n"
    "  ./lab exec --counters ./saxpy            also show the cost of each line (nvcc -lineinfo)\n"
    "  ./lab exec --profile ./saxpy             also model which kernel takes longest, and why\n"
    "  ./lab exec --time ./saxpy                its cudaEvents return modelled times\n"
    "  ./lab exec --record a.json ./saxpy       also record a warp for ./lab play\n"
    "  ./lab exec --gpu h200 ./saxpy            choose the GPU to emulate\n\n"
    "cudaEventElapsedTime returns the time that the emulation took on this CPU. With\n"
    "--time or --profile it returns the GPU time of the time model, and kernels run\n"
    "on one core. A line at the end shows which of the two it was. clock() in a\n"
    "kernel always follows the model, for one warp alone; %globaltimer follows it\n"
    "where events do.\n\n"
    "Streams, signals and the exit status are the program's own. Exit status 128 + N\n"
    "means that signal N ended it, and 2 that it cannot run here. If the program\n"
    "succeeds, 1 means findings with --check, or nothing to profile with --profile.",
    [](arguments& takes, exec_options& o) {
      takes.add("--gpu", o.gpu,
                "the GPU to emulate: a name from common/gpus/, or a file in that format (h200)");
      takes.add("--time-limit", o.time_limit_s, "seconds per kernel (no limit)");
      takes.flag("--check", o.check, "find races, invalid addresses, barrier errors, leaks ...");
      takes.flag("--counters", o.counters,
                 "show sectors, bank conflicts, cache hits and divergence, line by line");
      takes.flag("--profile", o.profile,
                 "list kernels by modelled time; show the bottleneck of the first and what to try");
      takes.flag("--time", o.time, "make cudaEvents return modelled times, without a profile");
      takes.flag("--as-gpu", o.as_gpu,
                 "accept invalid addresses that a GPU would accept, because it maps 2 MiB at once");
      takes.flag("--late", o.late,
                 "start kernels and asynchronous copies only when the host waits, or after 0.1 s");
      takes.flag("--timeline", o.timeline,
                 "with --profile: show calls, copies and kernels, stream by stream");
      takes.add("--trace", o.trace,
                "with --profile: the output file for the timeline, which Perfetto opens");
      takes.add("--record", o.record,
                "the output file for a recorded warp, which `lab play` shows");
      take_choice(takes, o.recorded);
      takes.add("--report", o.report,
                "with --check, --counters, --profile: the output file for the results, as JSON");
    },
    exec);

}  // namespace
}  // namespace stepwise::cli
