// The context of every command: paths, output and the requested device.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/device/gpu.hpp"
#include "common/formats/json.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/installation.hpp"
#include "grader/measure/figures.hpp"
#include "grader/report/table.hpp"
#include "grader/report/terminal.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {

// Refuses a request by the user that cannot be fulfilled.
[[noreturn]] inline void refuse(const std::string& sentence) {
  throw failure(exit_code::usage, sentence);
}

struct context {
  installation where;
  bool as_json = false;
  bool plain = false;  // colours are off
  device_request request = device_request::automatic;
  output out;
  progress busy;
  std::vector<std::string> arguments;  // as typed, without the program's name
  std::vector<std::string> program;    // exec: the user's program and its arguments

  device_choice device() const { return choose_device(request, where); }
  activity now();
  // Prints a line for people. Does nothing under --json.
  void say(std::string_view text = {});
  // Prints a table for people. Does nothing under --json.
  void table(const std::vector<column>& columns, const std::vector<std::vector<cell>>& rows);
  // Prints the document of --json.
  void print(const json& document);
};

// The current time ("2026-11-22T10:00:00Z"), and the command as it was typed, for records.
std::string utc_now();
std::string command_text(const context& c);

// The callback for the lock of a GPU (gpu_lock_file()): shows that another lab holds the lock.
std::function<void()> waiting_for_gpu(context& c);
// Throws failure(environment) without a GPU, for commands that otherwise model times.
void need_gpu_to_record(const device_choice& device);
// Prints where a record is, and the command that updates the tables made from it.
void say_recorded(context& c, const fs::path& file, const std::string& tables = "the lab's tables");

// A program to judge: the student's file, another file, or a solution step.
struct subject {
  std::string shown;  // "labs/reduction/reduction.cu", "03_sequential"
  fs::path program;   // empty if it does not compile
  std::vector<std::string> compile_errors;
  bool out_of_memory = false;                   // its compilers exceeded their memory limit
  double seconds = 0;                           // time that its compilers took
  fs::path known_as = {};                       // name in its code, if it is not the file's name
  std::vector<compiler_warning> warnings = {};  // nvcc's, about the file
};

// The step whose skeleton equals a student's text byte for byte. Empty if there is none.
std::string skeleton_of(const context& c, const lab& l, const std::string& text);

// Compiles a program for the emulated GPU if needed, and a file as `guards` requires. At most one
// of `file` and `step_name` is given.
subject prepare(context& c, const lab& l, const std::string& file, const std::string& step_name,
                compile_guards guards = {});

// Parses a size of this problem: "1023", "2^10" or "512x256". Returns nullopt for "". Throws
// failure(usage) for any other text.
std::optional<lab_size> parse_size(const lab& l, const problem& p, const std::string& text);

// Ends a command whose subject does not compile: prints the reason, or the document with `correct`,
// `class` and `message`. Returns the exit code.
int report_compile_errors(context& c, const subject& s, json document);

// Prepares a file of the course. Uses `program` if the build has its code; otherwise compiles
// `file` for the emulated GPU.
subject prepare_ours(context& c, const lab& l, const std::string& shown, const fs::path& file,
                     const fs::path& program);

// Prints the call that failed and the reason, the calls that were correct before it, and the
// program's output.
void show_finding(context& c, const check_report& report);
// Prints the subject of the output and `rest`, in two lines if one line is too short.
void show_subject(context& c, const std::string& subject, const std::string& rest);
// Prints the findings of the checks, and their number.
void show_findings(context& c, const check_report& report);
// Prints the TODO lines left in a file that did not pass, and skeletons in given/ that were edited
// instead of that file. Both often explain the failure. Returns false if no line is left, or with
// --json.
bool show_todos(context& c, const lab& l, const std::string& shown);
// Prints the compiler's warnings about the file, at most `most_warnings_shown`.
void show_warnings(context& c, const std::vector<compiler_warning>& warnings);
json warnings_json(const std::vector<compiler_warning>& warnings);
// Two lines per warning: its position and message, and the source line (empty if unknown). After
// `most_warnings_shown` warnings, the number of further warnings.
inline constexpr std::size_t most_warnings_shown = 3;
std::vector<std::string> warning_lines(const std::vector<compiler_warning>& warnings);
// Warns if the file names features that `lab grade` refuses, and lists them in `document`.
void warn_of_refusals(context& c, const lab& l, const problem& p, const std::string& shown,
                      json& document);
// Prints the program's output, if there is any, truncated and escaped.
void show_printed(context& c, const std::string& printed);
// "3 of 3 sizes, n = 1 … n = 1023".
std::string right_text(const context& c, const check_report& report);

// Selects the GPU to emulate, and returns it: the GPU that --gpu names (`id`), or otherwise
// STEPWISE_GPU, or otherwise an H200. Programs inherit STEPWISE_GPU, and are compiled for this GPU
// if the build has no code for it. Throws failure(usage) like gpu_named().
gpu stand_for(context& c, const std::string& id);
// Like stand_for(), for commands that can also use a real GPU. Returns nullopt if the command uses
// a real GPU. --gpu requests the emulator.
std::optional<gpu> wanted_gpu(context& c, const std::string& id);
inline constexpr const char* gpu_option_text =
    "the GPU to emulate: a name from common/gpus/, or a file in that format";
// A note on a GPU older than the compiler's code: the code that the GPU runs, and whether a smaller
// call is modelled. Empty for any other GPU.
std::string old_gpu_note(const gpu& model, const lab& l);
void show_old_gpu_note(context& c, const gpu& model, const lab& l);
// Reports INFRA if the course's own program needs more than this GPU has. The submission is not at
// fault.
void excuse_small_gpu(const gpu& model, call_outcome& found);
std::string machine_code_of(const gpu& model);  // architecture of its machine code, "sm_90"

// The description that --gpu names. Throws failure(usage), which lists the known GPUs or explains
// what is wrong with a file.
gpu gpu_named(const std::string& id);

json device_json(const device_choice& device);
json check_json(const check_report& report);
json figures_json(const figures& f);  // the keys that walk, run and bench share

// Exit code of a verdict: PASS 0, INFRA and INCONCLUSIVE 3, all others the student's fault.
int exit_code_of(verdict v);

}  // namespace stepwise::cli
