// lab exec: runs any program that nvcc built with the shared CUDA runtime on the emulator.
//
// idea    It first inspects the file and the libraries that the loader would load. A program that
//         cannot work is refused with a sentence on how to build it. Then the program replaces this
//         process, so its streams, signals and exit status are its own.
// watch   LD_LIBRARY_PATH is enough unless an old-style RPATH comes first, or the program loads a
//         runtime later, perhaps NVIDIA's by its path (Python does). Only then LD_PRELOAD is used:
//         all child processes inherit it, and sanitizers object to it.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "common/device/engine_settings.hpp"
#include "common/device/gpu.hpp"
#include "common/report/finding_text.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/profile/program_text.hpp"
#include "grader/cli/profile/timeline_text.hpp"
#include "grader/cli/recorded/choice.hpp"
#include "grader/cli/verb.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/profile.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/foreground.hpp"
#include "grader/system/loader.hpp"
#include "grader/system/process.hpp"
#include "grader/system/program_file.hpp"

namespace stepwise::cli {
namespace {

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

constexpr const char* runtime_name = "libcudart.so.13";
constexpr const char* driver_name = "libcuda.so.1";
constexpr const char* nvrtc_name = "libnvrtc.so.13";

// The end of every refusal: the command to type.
std::string how_to_build(const gpu& model) {
  const int sm = model.compute_capability();
  return fmt::format(
      "build it with: nvcc --cudart=shared -gencode arch=compute_{0},code=[sm_{0},compute_{0}] "
      "...\n"
      "(CMake: CMAKE_CUDA_RUNTIME_LIBRARY Shared, CMAKE_CUDA_ARCHITECTURES {0})",
      sm);
}

// The caller may have closed stderr, which must not end this process.
void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

void note(const std::string& sentence) { say("lab: note: " + sentence + "\n"); }

// The GPU of --gpu, else of STEPWISE_GPU, else the runtime's own choice.
gpu wanted_gpu(const std::string& asked) {
  const auto settings = engine_settings::from_environment();
  const bool from_environment = asked.empty() && !settings.gpu.empty();
  const auto found = find_gpu(!asked.empty() ? asked : settings.gpu_or_default());
  if (!found.ok()) {
    refuse((from_environment ? "STEPWISE_GPU: " : "--gpu: ") + found.failure().message);
  }
  return *found;
}

// Finds a program as a shell does: on PATH if the word has no slash.
fs::path find_program(const std::string& word) {
  std::error_code ignored;
  if (word.find('/') != std::string::npos) {
    if (!fs::exists(word, ignored)) refuse(word + ": there is no such file");
    return word;
  }
  if (const std::string found = on_path(word); !found.empty()) return found;
  const bool here = fs::exists(word, ignored);
  refuse(here ? word + " is not on PATH; the file in this folder is ./" + word
              : word + " is neither on PATH nor in this folder");
}

void check_file(const fs::path& program) {
  const std::string name = program.string();
  struct stat about {};
  if (stat(program.c_str(), &about) != 0) refuse(name + ": there is no such file");
  if (S_ISDIR(about.st_mode)) refuse(name + " is a folder");
  if (!S_ISREG(about.st_mode)) refuse(name + " is not a regular file");
  if (const auto end = program.extension(); end == ".cu" || end == ".cpp" || end == ".cc") {
    refuse(fmt::format(
        "{} is source code; compile it first: nvcc --cudart=shared -arch=sm_90 -o {} {}", name,
        program.stem().string(), name));
  }
  if (::access(program.c_str(), R_OK) != 0) refuse(name + " cannot be read: you lack permission");
  char start[2] = {};
  std::ifstream(program, std::ios::binary).read(start, sizeof start);
  if (start[0] == '#' && start[1] == '!') {
    refuse(name + " is a script; name the program that it starts");
  }
  if ((about.st_mode & (S_ISUID | S_ISGID)) != 0 && geteuid() != about.st_uid) {
    refuse(name + " runs as another user (setuid), so the loader ignores the emulator's libraries");
  }
}

// Checks the program's kind and machine. Its libraries are checked later.
program_file check_kind(const fs::path& program, const gpu& model) {
  const auto found =
      read_program_file(program, static_cast<std::uint32_t>(model.compute_capability()));
  const std::string name = program.string();
  if (!found) refuse(name + " is not a program (not an ELF file)");
  using kind = program_file::kind;
  if (found->machine != own_machine()) {
    refuse(fmt::format("{} is built for {}, but this machine is {}; build it here", name,
                       machine_name(found->machine), machine_name(own_machine())));
  }
  if (found->is == kind::object) refuse(name + " is an object file; link it first");
  if (found->is == kind::library) {
    refuse(name + " is a library; name the program that loads it");
  }
  if (::access(program.c_str(), X_OK) != 0) {
    refuse(name + " is not executable; if it is a program: chmod +x " + name);
  }
  if (found->is == kind::static_program) {
    refuse(name + " is fully statically linked, so it does not load " + runtime_name + "; " +
           how_to_build(model));
  }
  return *found;
}

// NVIDIA's CUDA libraries link the runtime statically and call the driver.
bool is_nvidias(const std::string& library) {
  constexpr const char* names[] = {"libcublas",   "libcudnn",    "libcufft",    "libcurand",
                                   "libcusolver", "libcusparse", "libcutensor", "libnccl",
                                   "libnpp",      "libnvjpeg",   "libnvinfer",  "libcufile"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](const char* name) { return library.starts_with(name); });
}

std::string other_major(const std::string& library) {
  const std::string stem = "libcudart.so.";
  if (!library.starts_with(stem) || library == runtime_name) return {};
  return library.substr(stem.size(), library.find('.', stem.size()) - stem.size());
}

std::string architectures(const char* prefix, std::vector<std::string> versions) {
  for (auto& version : versions) version.insert(0, prefix);
  return joined(versions, ", ");
}

std::string carried(const device_code& code) {
  std::vector<std::string> parts;
  if (!code.machine_code.empty()) {
    parts.push_back("machine code for " + architectures("sm_", code.machine_code));
  }
  if (!code.ptx.empty()) parts.push_back("PTX for " + architectures("compute_", code.ptx));
  return joined(parts, ", ");
}

void check_missing(const std::string& name, const std::vector<loaded_library>& libraries) {
  for (const auto& library : libraries) {
    if (!library.file.empty() || library.name == runtime_name) continue;
    std::string sentence = name + " needs " + library.name + ", but the loader cannot find it";
    if (library.name == driver_name) {
      sentence +=
          "; this is the driver API, and the emulator's driver is not built: run ./lab setup";
    } else if (library.name.starts_with("libnvrtc.")) {
      sentence += "; install a CUDA toolkit, or run: pip install nvidia-cuda-nvrtc";
    } else if (is_nvidias(library.name)) {
      sentence += "; its kernels are NVIDIA machine code and cannot run on the emulator anyway";
    } else {
      sentence += "; add its folder to LD_LIBRARY_PATH";
    }
    refuse(sentence);
  }
}

// Notes a library that cannot work. It is not refused, since the program may do without it.
void note_library(const loaded_library& library, const gpu& model) {
  if (is_nvidias(library.name)) {
    return note(library.name +
                " is an NVIDIA library without PTX that calls the driver itself: its kernels "
                "cannot run on the emulator");
  }
  const auto found =
      read_program_file(library.file, static_cast<std::uint32_t>(model.compute_capability()));
  if (!found || !found->code.has_fat_binary) return;
  const auto& needed = found->needed;
  if (std::count(needed.begin(), needed.end(), runtime_name) == 0) {
    note(library.name + (found->code.any() ? " contains kernels, but" : " uses CUDA, but") +
         " NVIDIA's runtime is linked into it, so it cannot run on the emulator (rebuild it with "
         "nvcc --cudart=shared)");
  } else if (found->code.any() && !found->code.for_gpu) {
    note(fmt::format("{} contains {}, but no PTX that an {} can use: its kernels cannot run",
                     library.name, carried(found->code), model.name));
  }
}

void check_code(const std::string& name, const program_file& program, bool loads_runtime,
                bool knows_libraries, const gpu& model) {
  const device_code& code = program.code;
  if (code.has_fat_binary && !loads_runtime) {
    refuse(name +
           " has NVIDIA's CUDA runtime linked into it (nvcc's default), so the emulator cannot "
           "replace it; " +
           how_to_build(model));
  }
  if (code.any() && !code.for_gpu) {
    refuse(fmt::format("{} contains {}, but no PTX that an {} (sm_{}) can use; {}", name,
                       carried(code), model.name, model.compute_capability(), how_to_build(model)));
  }
  if (!code.without_ptx.empty())
    note("these parts have no PTX for this GPU, so their kernels cannot run: " +
         joined(code.without_ptx, ", "));
  if (knows_libraries && !code.has_fat_binary && !loads_runtime)
    note(name + " does not need a CUDA runtime; if it loads one later, it gets the emulator's");
}

// LD_PRELOAD splits at spaces and colons, so a path with either is named by an open file.
std::string preload_entry(const fs::path& runtime) {
  if (runtime.string().find_first_of(" \t\n:;") == std::string::npos) return runtime.string();
  const int descriptor = open(runtime.c_str(), O_RDONLY);  // the program inherits it
  return "/proc/self/fd/" + std::to_string(descriptor);
}

std::string prepended(const std::string& first, const char* name, char separator) {
  const char* rest = std::getenv(name);
  return fmt::format("{}={}", name, first) + (rest && *rest ? separator + std::string(rest) : "");
}

// Whether the program or one of its libraries needs the runtime. Our driver needs it, too.
bool asks_for_runtime(const program_file& program, const std::vector<loaded_library>& loaded) {
  const auto is_driver = [](const loaded_library& l) { return l.name == driver_name; };
  if (std::none_of(loaded.begin(), loaded.end(), is_driver)) return true;
  const auto asks = [](const std::vector<std::string>& needed) {
    return std::count(needed.begin(), needed.end(), runtime_name) > 0;
  };
  return asks(program.needed) || std::any_of(loaded.begin(), loaded.end(), [&](const auto& l) {
           if (is_driver(l) || l.name == runtime_name || l.file.empty()) return false;
           const auto found = read_program_file(l.file, 0);
           return found && asks(found->needed);
         });
}

// Checks everything, and returns the environment in which the program finds our runtime.
std::vector<std::string> prepare_exec(const fs::path& program, const gpu& model,
                                      const installation& where) {
  const std::string name = program.string();
  const fs::path ours = where.emulated_runtime / runtime_name;
  if (!fs::exists(ours)) {
    throw failure(exit_code::environment,
                  where.shown(ours) + " is not built; run ./lab setup (needs nvcc)");
  }
  check_file(program);
  const program_file file = check_kind(program, model);
  std::vector<std::string> environment = {
      prepended(where.emulated_driver.string() + ':' + where.emulated_runtime.string(),
                "LD_LIBRARY_PATH", ':')};
  const fs::path whole = fs::absolute(program);
  const auto libraries = libraries_of(whole, file.interpreter, environment);
  std::vector<loaded_library> loaded = libraries.value_or(std::vector<loaded_library>{});
  if (!libraries)
    for (const auto& needed : file.needed) loaded.push_back({needed, ours});
  const auto asks_for = [&](const char* wanted) {
    return std::any_of(loaded.begin(), loaded.end(),
                       [&](const loaded_library& l) { return l.name == wanted; });
  };
  fs::path nvrtc;  // NVIDIA's, used by our NVRTC, which Python loads later
  if (asks_for(nvrtc_name) || !asks_for(runtime_name))
    nvrtc = find_library(nvrtc_name, whole, file.interpreter, where.nvidia_runtimes);
  bool loads_runtime = false, ours_first = true;
  std::error_code ignored;
  for (auto& library : loaded) {
    if (library.name == nvrtc_name && nvrtc.empty()) library.file.clear();
    if (const auto major = other_major(library.name); !major.empty()) {
      refuse(
          fmt::format("{} was built with CUDA {} (it needs {}), but the emulator is the runtime of "
                      "CUDA 13; with nvcc 13, {}",
                      name, major, library.name, how_to_build(model)));
    }
    if (library.name != runtime_name) continue;
    loads_runtime = !file.code.any() || asks_for_runtime(file, loaded);
    ours_first = fs::equivalent(library.file, ours, ignored);
  }
  check_code(name, file, loads_runtime, libraries.has_value(), model);
  if (libraries) {
    check_missing(name, loaded);
    for (const auto& library : loaded) note_library(library, model);
  }
  const bool later = !loads_runtime && !file.code.has_fat_binary;
  if (!nvrtc.empty()) environment.push_back("STEPWISE_NVRTC=" + nvrtc.string());
  if (!ours_first || !libraries || later) {
    // The linker that Python's packages depend on loads our driver and our runtime.
    const fs::path linker = where.emulated_driver / "libnvJitLink.so.13";
    const fs::path& first = later && fs::exists(linker, ignored) ? linker : ours;
    environment.push_back(prepended(preload_entry(first), "LD_PRELOAD", ':'));
  }
  return environment;
}

// A line's text comes from the present source, its counts from the compiled one.
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
    note(source + " was changed after " + program.string() +
         " was built; recompile it, or the counts will be shown at the wrong lines");
  }
}

void show_profile(const program_profile& profile, const terminal_style& style) {
  const bool timed = profile.why_none().empty();
  say(timed ? "\n" : "");
  for (const std::string& line : program_lines(profile, style))
    say((timed ? "" : "lab: ") + line + "\n");
}

// Shows findings and counts after the program's own output. Returns 1 if the program succeeded but
// something was found or could not be profiled, else the program's exit code.
int report_on(const context& c, const exec_options& o, const gpu& model, const fs::path& program,
              const fs::path& folder, int exit_code) {
  auto found = read_findings(folder / "findings");
  const auto not_followed = take_not_followed(found);
  const auto kernels = read_profile(folder / "profile").kernels;
  const program_profile profile{program.string(), model, kernels, read_failure(folder / "profile")};
  const bool complains = !found.empty() || (o.profile && !profile.why_none().empty());
  json document = json::object();
  if (o.check) document = findings_json(found, not_followed);
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
    say(text);
    return exit_code == 0 && complains ? 1 : exit_code;
  }
  const terminal_style style = detect_style(STDERR_FILENO, !c.plain);
  if (o.counters && kernels.empty()) note("the run counted no kernel");
  note_newer_sources(program, kernels);
  if (o.counters && !kernels.empty()) say(fmt::format("\n{}", profile_shown(kernels, style)));
  if (o.profile) show_profile(profile, style);
  if (o.timeline && drawn && profile.why_none().empty()) {
    say("\n");
    for (const std::string& line : timeline_lines(times, style)) say(line + "\n");
  }
  if (o.check) {
    if (!found.empty()) say("\n" + findings_text(found, style, fs::current_path()));
    for (const auto& f : not_followed) note(not_followed_text(f, fs::current_path()));
    if (const std::string how = missing_lines_note(found, {}); !how.empty()) note(how);
    say(fmt::format("lab: {}\n", findings_line(found, style)));
  }
  return exit_code == 0 && complains ? 1 : exit_code;
}

void say_recorded(const std::string& file) {
  std::error_code none;
  if (fs::file_size(file, none) == 0 || none)
    return note("nothing was recorded: the program has no such launch");
  const warp_recording r = read_recording(file);
  if (r.steps.empty()) return note("nothing was recorded: the launch has no such block or warp");
  note(kept_text(r) + "; ./lab play " + file);
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
    say(fmt::format("lab: {} was ended by a signal: {}\n", program.string(),
                    signal_text(end.signal)));
  }
  if (!o.record.empty()) say_recorded(o.record);
  return o.watched() ? report_on(c, o, model, program, folder->path(), end.exit_code)
                     : end.exit_code;
}

const verb exec_verb(
    {verb_place::group::study, 90}, "exec", "run any CUDA program on the emulator",
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
