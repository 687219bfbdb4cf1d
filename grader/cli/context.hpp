// What every command is given: where things are, where words go, which device is wanted.
#pragma once

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
#include "grader/report/terminal.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {

// The user asked for what cannot be done.
[[noreturn]] inline void refuse(const std::string& sentence) {
  throw failure(exit_code::usage, sentence);
}

struct context {
  installation where;
  bool as_json = false;
  bool plain = false;  // no colours were asked for
  device_request request = device_request::automatic;
  output out;
  progress busy;
  std::vector<std::string> arguments;  // as typed, without the program's name
  std::vector<std::string> program;    // exec: the program and its arguments, which are not ours

  device_choice device() const { return choose_device(request, where); }
  activity now();
  // A line for people; nothing under --json.
  void say(std::string_view text = {});
  // The document of --json.
  void print(const json& document);
};

// For records: now ("2026-11-22T10:00:00Z"), and the command as it was typed.
std::string utc_now();
std::string command_text(const context& c);

// A program to judge: the student's file, another file, or a solution step.
struct subject {
  std::string shown;  // "labs/reduction/reduction.cu", "03_sequential"
  fs::path program;   // empty if it does not compile
  std::vector<std::string> compile_errors;
  bool out_of_memory = false;  // it does not compile within the memory that it may have
  double seconds = 0;          // that its compilers took
  fs::path known_as = {};      // its own name for its source, if that is not the file's
};

// The step whose skeleton a student's text is, letter for letter; empty if it is none.
std::string skeleton_of(const context& c, const lab& l, const std::string& text);

// Compiles if needed, for the emulated GPU; a file as `guards` say. At most one of `file` and
// `step_name` is given.
subject prepare(context& c, const lab& l, const std::string& file, const std::string& step_name,
                compile_guards guards = {});

// "1023", "2^10" or "512x256", a size that this problem takes; failure(usage) otherwise. None for
// "".
std::optional<lab_size> parse_size(const lab& l, const problem& p, const std::string& text);

// Ends a command whose subject does not compile: says why, or completes the document with
// `correct`, `class` and `message`, and prints it. The exit code.
int report_compile_errors(context& c, const subject& s, json document);

// A file of the course's: `program` where the build has its code, else compiled for the emulated
// GPU.
subject prepare_ours(context& c, const lab& l, const std::string& shown, const fs::path& file,
                     const fs::path& program);

// In words: what did not pass and how to see it again.
void show_finding(context& c, const check_report& report);
// The TODO lines that are left in a file that did not pass: often all there is to say.
void show_todos(context& c, const std::string& shown);
// Warns if the file names features that `lab grade` refuses, and lists them in `document`.
void warn_of_refusals(context& c, const std::string& shown, json& document);
// Warns that `lab grade` holds what the checks do not follow, and lists that in `document`.
void warn_of_unfollowed(context& c, const std::vector<located_finding>& all, json& document);
// What the program printed, bounded and escaped; nothing if it printed nothing.
void show_printed(context& c, const std::string& printed);
// "22 of 22 sizes, n = 1 ... n = 1000003".
std::string right_text(const context& c, const check_report& report);

// The GPU that is emulated from now on: what --gpu names (`id`), else STEPWISE_GPU,
// else an H200. Programs are compiled for it where the build has none, and inherit STEPWISE_GPU.
// failure(usage) as gpu_named().
gpu stand_for(context& c, const std::string& id);
// The same for commands that run on a GPU, too: nullopt where one does. --gpu asks for the
// emulator.
std::optional<gpu> wanted_gpu(context& c, const std::string& id);
inline constexpr const char* gpu_option_text =
    "whom the emulator is: a name from common/gpus/, or a file like those";
// What is to be said of a GPU that is older than the compiler's code: whose code it runs, and that
// a smaller call is modelled, if it is. Else empty.
std::string old_gpu_note(const gpu& model, const lab& l);
void show_old_gpu_note(context& c, const gpu& model, const lab& l);
// What the course's own program asks of a GPU that has less of it: not the submission's fault,
// INFRA.
void excuse_small_gpu(const gpu& model, call_outcome& found);
std::string machine_code_of(const gpu& model);  // "sm_90": whose registers and instructions count

// The description that --gpu names; failure(usage) lists the known ones, or what is wrong with a
// file.
gpu gpu_named(const std::string& id);

json device_json(const device_choice& device);
json check_json(const check_report& report);
json figures_json(const figures& f);  // the keys that walk, run and bench share

// Exit code of a class: PASS 0, INFRA and INCONCLUSIVE 3, else the student's fault.
int exit_code_of(verdict v);

}  // namespace stepwise::cli
