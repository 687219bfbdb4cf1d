// Notifies the device of each call, and writes the device's findings to the file, or to stderr at
// the end.
#include "common/runtime/checks.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/device/engine_settings.hpp"
#include "common/device/interruption.hpp"
#include "common/runtime/errors.hpp"
#include "common/runtime/host/call_stacks.hpp"
#include "common/runtime/host/freeing.hpp"
#include "common/runtime/host/guarded_pages.hpp"
#include "common/runtime/host/last_words.hpp"
#include "common/runtime/state.hpp"

namespace stepwise::runtime {
namespace {

constexpr std::size_t most_findings = 1000;

// Whether this thread's next call is the launch that <<<>>> makes, and the origin of that launch.
struct pending_launch {
  bool is_one = false;
  std::uint64_t origin = 0;
};
thread_local pending_launch next_launch;

// For example "cudaErrorInvalidValue (the reason)".
std::string error_in_words(int code, const char* name, const std::string& why) {
  return std::string(name) + " (" + (why.empty() ? error_text(code) : why) + ")";
}

// False for not_ready, and for GPU features that this device lacks.
bool is_mistake(int code) {
  return code != static_cast<int>(error::not_ready) &&
         code != static_cast<int>(error::not_supported);
}

// The C library calls this after the destructors of the program's own objects, because it was
// registered before those objects were constructed.
void program_exits(int exit_code, void*) {
  state& s = state::get();
  std::unique_lock guard(s.lock, std::defer_lock);
  // Another thread may be inside a kernel that never ends.
  for (int tries = 0; !guard.try_lock(); tries++) {
    if (tries == 100) return say_last_words();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  lift_guard();
  // finish() reports no leaks after a failure, because a program that gives up need not free
  // memory.
  s.release_graphs();
  s.checks->finish(s.current.get(), exit_code == 0 && s.fault.ok());
  s.checks->program_ends();
}

// Called with the lock held, by a launch that a signal has stopped.
void program_interrupted(const std::string& why) {
  state& s = state::get();
  const std::string name = interrupted.signal == SIGINT ? "SIGINT" : "SIGTERM";
  write_all(STDERR_FILENO, "stepwise: " + name + (why.empty() ? "" : ": " + why) + "\n");
  lift_guard();
  s.checks->finish(s.current.get(), false);
  s.checks->program_ends();
  end_by_signal(interrupted.signal);
}

__attribute__((constructor)) void watch_the_end() {
  if (!engine_settings::from_environment().check) return;
  on_exit(program_exits, nullptr);
  interrupted.finish = program_interrupted;
}

}  // namespace

finding_style style_of_stderr() {
  finding_style style;
  winsize window{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40) {
    style.width = std::min<std::size_t>(window.ws_col, 140);
  } else {
    style.width = 100;
  }
  char folder[4096];
  if (getcwd(folder, sizeof folder) != nullptr) style.folder = folder;
  return style;
}

std::unique_ptr<call_checks> call_checks::from_environment() {
  const auto settings = engine_settings::from_environment();
  if (!settings.check) return nullptr;
  stop_launches_on({SIGINT, SIGTERM});
  return std::make_unique<call_checks>(settings.findings);
}

call_checks::watched_call call_checks::watch() {
  watched_call call{call_of_program(), 0, next_launch.is_one};
  call.origin = next_launch.is_one ? next_launch.origin : number_of_stack(call.from.stack);
  origin_ = call.origin;
  next_launch = {};
  return call;
}

call_checks::watched_call call_checks::begin_call(const char* function) {
  watched_call call = watch();
  functions_[call.origin] = function;
  return call;
}

std::string_view call_checks::function_of(std::uint64_t origin) const {
  const auto known = functions_.find(origin);
  return known != functions_.end() ? known->second : std::string_view();
}

void call_checks::end_call(const watched_call& call, device* of, const status& outcome) {
  take(of, false);
  // A driver API function reports its own result.
  if (!outcome.ok() && driver_call::function() == nullptr) {
    const int code = static_cast<int>(outcome.code);
    const failure how{code, error_name(code), outcome.message};
    call.by_launch_syntax ? launch_failed(call, how) : call_failed(call, how);
  }
}

void call_checks::end_driver_call(int code, const char* name) {
  call_failed(watch(), {code, name, driver_call::reason(), true});
}

void call_checks::launch_failed(const watched_call& call, const failure& how) {
  if (is_fault(static_cast<error>(how.code))) return;
  finding what;
  what.origin = call.origin;
  what.message = "the launch failed with " + error_in_words(how.code, how.name, how.why) +
                 ", and the program never checked for the error";
  what.advice =
      "The kernel did not run. A launch with <<<>>> returns no error, so check cudaGetLastError() "
      "after it.";
  keep({thread_number(), std::move(what), {}});
}

void call_checks::call_failed(const watched_call& call, const failure& how) {
  const followed_result& result = result_of(call);
  const bool is_ignored = result.use == result_use::ignored;
  // This is a kernel's fault, or the error that every call returns after the fault.
  const auto code = static_cast<error>(how.code);
  if (is_fault(code) || code == state::get().fault.code) {
    if (!is_ignored) unchecked_fault_.reset();
    return;
  }
  if (!is_ignored || !is_mistake(how.code) || refused_frees_.contains(call.origin)) return;
  const std::string function = called_function(call.from.inside);
  finding what;
  what.origin = call.origin;
  what.message = (function.empty() ? "a call" : function + "()") + " failed with " +
                 error_in_words(how.code, how.name, how.why) +
                 ", and the program ignores the returned error";
  what.advice = how.by_driver ? "Compare the return value of the call with CUDA_SUCCESS."
                              : "Compare the return value of the call with cudaSuccess, or check "
                                "cudaGetLastError() after it.";
  const auto& stack = call.from.stack;
  keep({how.by_driver ? 0 : thread_number(),
        std::move(what),
        {stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(result.frames)}});
}

const followed_result& call_checks::result_of(const watched_call& call) {
  const auto [known, is_new] = results_.try_emplace(call.origin);
  // In tests, the runtime is part of the program, and the stack begins inside the runtime.
  if (is_new && call.from.inside != 0) known->second = follow_result(call.from.stack);
  return known->second;
}

void call_checks::keep(unchecked error) {
  error.what.kind = finding_kind::unchecked_error;
  for (unchecked& known : unchecked_) {
    if (known.thread != error.thread || known.what.origin != error.what.origin ||
        known.what.message != error.what.message)
      continue;
    known.what.count++;
    return;
  }
  if (unchecked_.size() == most_findings) return;
  unchecked_.push_back(std::move(error));
  prepare_last_words();
}

bool call_checks::is_programs(const unchecked& error) {
  if (error.passed.empty()) return true;  // a launch
  const auto [known, is_new] = ignored_by_program_.try_emplace(error.what.origin);
  if (is_new)
    known->second =
        place_of_origin(error.what.origin).known() && !passes_library_code(error.passed);
  return known->second;
}

void call_checks::prepare_last_words() {
  // Each of these texts stays in memory.
  if (++last_words_made_ > 2 * most_findings) return set_last_words("");
  std::vector<located_finding> all;
  if (file_.empty()) all = found_;
  for (const unchecked& error : unchecked_)
    if (is_programs(error)) merge_into(all, located(error.what));
  if (!all.empty() && !std::exchange(armed_, true)) {
    say_last_words_on({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT});
  }
  if (file_.empty()) return set_last_words(all.empty() ? "" : report(all));
  std::string lines;
  for (const located_finding& found : all) lines += json_line(found) + "\n";
  set_last_words(lines, file_);
}

void call_checks::error_seen() {
  unchecked_fault_.reset();
  const auto asked = [](const unchecked& u) { return u.thread == thread_number(); };
  if (std::erase_if(unchecked_, asked) != 0) prepare_last_words();
}

void call_checks::fault_noted(int code, const std::string& message) {
  unchecked_fault_ = std::make_unique<finding>();
  unchecked_fault_->kind = finding_kind::unchecked_error;
  unchecked_fault_->message = "a kernel failed with " +
                              error_in_words(code, error_name(code), message) +
                              ", and the program checked no later call that returned the error";
  unchecked_fault_->advice =
      "Check the return value of cudaDeviceSynchronize(), or of a copy after the kernel.";
}

void call_checks::refused_free(std::string message, std::string advice, std::uint64_t bytes,
                               std::uint64_t allocated_by) {
  finding f;
  f.kind = finding_kind::double_free;
  f.origin = origin_;
  f.message = std::move(message);
  f.advice = std::move(advice);
  if (bytes != 0) {
    f.object.what = finding_object::kind::allocation;
    f.object.bytes = bytes;
    f.object.allocated_by = allocated_by;
  }
  add(std::move(f));
}

void call_checks::wrong_copy_kind(std::string message, std::string advice) {
  finding f;
  f.kind = finding_kind::wrong_copy_kind;
  f.origin = origin_;
  f.message = std::move(message);
  f.advice = std::move(advice);
  add(std::move(f));
}

void call_checks::finish(device* of, bool in_order) {
  origin_ = 0;
  take(of, in_order);
}

void call_checks::program_ends() {
  for (unchecked& error : std::exchange(unchecked_, {}))
    if (is_programs(error)) add(std::move(error.what));
  // Add the unchecked fault only if the device has not already reported an error in a kernel.
  const bool is_reported = std::any_of(found_.begin(), found_.end(),
                                       [](const auto& f) { return !is_warning(f.what.kind); });
  if (unchecked_fault_ && !is_reported) add(*unchecked_fault_);
  unchecked_fault_.reset();
  set_last_words("");
  if (file_.empty()) return write_all(STDERR_FILENO, report(found_));
  for (std::size_t i = 0; i < found_.size(); i++) append_to_file(i);
}

void call_checks::take(device* of, bool at_exit) {
  if (of == nullptr || of->extras().checks == nullptr) return;
  for (finding& f : of->extras().checks->take_findings(at_exit)) add(std::move(f));
}

located_finding call_checks::located(finding what, const host_place& at) {
  located_finding found{std::move(what), at, {}, {}, {}};
  if (!at.known()) found.host = place_of_origin(found.what.origin);
  found.allocated = place_of_origin(found.what.object.allocated_by);
  found.freed = place_of_origin(found.what.object.freed_by);
  found.unfinished = place_of_origin(found.what.unfinished);
  return found;
}

void call_checks::add(finding what, const host_place& at) {
  if (what.kind == finding_kind::double_free) refused_frees_.insert(what.origin);
  located_finding found = located(std::move(what), at);
  // A leak of memory that a kernel allocated already has advice.
  if (found.what.kind == finding_kind::leak && found.what.advice.empty()) {
    found.what.advice =
        how_to_free(function_of(found.what.origin), found.host, is_python_process());
  }
  const device* const on = state::get().current.get();
  other_process* const process = on != nullptr ? on->extras().process : nullptr;
  if (process != nullptr && process->give_finding(json_line(found))) return;
  if (found_.size() == most_findings) return;
  const auto [number, how] = merge_into(found_, std::move(found));
  if (how == merged::as::repeated) return;
  file_.empty() ? prepare_last_words() : append_to_file(number);
}

bool call_checks::add_in_copy(finding what, const host_place& at) {
  process_ = getpid();
  add(std::move(what), at);
  if (file_.empty()) write_all(STDERR_FILENO, report(found_));
  return file_.empty();
}

// Appends the occurrences of a finding that the file does not count yet.
void call_checks::append_to_file(std::size_t number) {
  if (getpid() != process_) return;  // a child of fork(), with a copy of our state
  written_.resize(found_.size());
  located_finding rest = found_[number];
  rest.what.count -= std::exchange(written_[number], rest.what.count);
  if (rest.what.count == 0) return;
  const int file = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) {
    return announce("STEPWISE_FINDINGS: " + file_ + " cannot be written: " + std::strerror(errno));
  }
  write_all(file, json_line(rest) + "\n");
  close(file);
}

std::string call_checks::report(const std::vector<located_finding>& all) {
  const finding_style style = style_of_stderr();
  std::string text;
  for (const located_finding& found : all) {
    text += "\n" + plain_text(finding_lines(found, style));
  }
  if (!all.empty()) text += "\n";
  if (const std::string note = missing_lines_note(all, style); !note.empty()) {
    text += "stepwise: " + note + "\n";
  }
  return text + "stepwise: " + findings_summary(all) + "\n";
}

std::uint64_t origin_of_launch() { return number_of_stack(program_stack()); }

void next_call_is_launch(std::uint64_t origin) { next_launch = {true, origin}; }

std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> threads{0};
  thread_local const std::uint64_t mine = ++threads;
  return mine;
}

}  // namespace stepwise::runtime
