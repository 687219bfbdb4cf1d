// Notifies the device of each call, and writes its findings to the file, or on stderr at the end.
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

#include "common/runtime/errors.hpp"
#include "common/runtime/host/call_stacks.hpp"
#include "common/runtime/host/freeing.hpp"
#include "common/runtime/host/last_words.hpp"
#include "common/runtime/state.hpp"

namespace stepwise::runtime {
namespace {

constexpr std::size_t most_findings = 1000;

// What a thread's next call is: the launch that <<<>>> makes.
struct pending_launch {
  bool is_one = false;
  std::uint64_t origin = 0;
};
thread_local pending_launch next_launch;

bool asked_for_checks() {
  const char* const wanted = std::getenv("STEPWISE_CHECK");
  return wanted != nullptr && std::strcmp(wanted, "1") == 0;
}

// The C library calls it after the destructors of the program's own objects: it was registered
// before they were made.
void program_exits(int exit_code, void*) {
  state& s = state::get();
  std::unique_lock guard(s.lock, std::defer_lock);
  // Another thread may be inside a kernel that never ends.
  for (int tries = 0; !guard.try_lock(); tries++) {
    if (tries == 100) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  // A program that gives up need not free what it has.
  s.release_graphs();
  s.checks->finish(s.current.get(), exit_code == 0 && s.fault.ok());
  s.checks->program_ends();
}

__attribute__((constructor)) void watch_the_end() {
  if (asked_for_checks()) on_exit(program_exits, nullptr);
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
  if (!asked_for_checks()) return nullptr;
  const char* const file = std::getenv("STEPWISE_FINDINGS");
  return std::make_unique<call_checks>(file ? file : "");
}

void call_checks::begin_call(const char* function) {
  by_launch_syntax_ = next_launch.is_one;
  origin_ = next_launch.is_one ? next_launch.origin : number_of_stack(program_stack());
  functions_[origin_] = function;
  next_launch = {};
}

std::string_view call_checks::function_of(std::uint64_t origin) const {
  const auto known = functions_.find(origin);
  return known != functions_.end() ? known->second : std::string_view();
}

void call_checks::end_call(device* of, int code) {
  if (code != 0) {
    const bool is_the_fault = is_fault(static_cast<error>(code));
    if (!by_launch_syntax_ && is_the_fault) unseen_fault_.reset();
    if (by_launch_syntax_ && !is_the_fault) launch_failed(code);
  }
  by_launch_syntax_ = false;
  take(of, false);
}

void call_checks::launch_failed(int code) {
  unseen entry{thread_number(), {}};
  entry.what.kind = finding_kind::unseen_error;
  entry.what.origin = origin_;
  const std::string why = last_message();
  entry.what.message = "the launch failed with " + std::string(error_name(code)) + " (" +
                       (why.empty() ? error_text(code) : why) +
                       "), and the program never asked for it";
  entry.what.advice =
      "A launch by <<<>>> returns nothing: check cudaGetLastError() after it; the kernel did not "
      "run.";
  unseen_.push_back(std::move(entry));
}

void call_checks::error_seen() {
  unseen_fault_.reset();
  std::erase_if(unseen_, [](const unseen& u) { return u.thread == thread_number(); });
}

void call_checks::fault_noted(int code, const std::string& message) {
  unseen_fault_ = std::make_unique<finding>();
  unseen_fault_->kind = finding_kind::unseen_error;
  unseen_fault_->message = "a kernel failed with " + std::string(error_name(code)) + " (" +
                           (message.empty() ? error_text(code) : message) +
                           "), and no later call returned it to the program";
  unseen_fault_->advice =
      "Check what cudaDeviceSynchronize(), or a copy after the kernel, returns.";
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
  for (unseen& u : std::exchange(unseen_, {})) add(std::move(u.what));
  // The device reports what went wrong in a kernel; only what it did not report is new.
  const bool told = std::any_of(found_.begin(), found_.end(),
                                [](const auto& f) { return !is_warning(f.what.kind); });
  if (unseen_fault_ && !told) add(*unseen_fault_);
  unseen_fault_.reset();
  if (file_.empty()) {
    set_last_words("");
    write_all(STDERR_FILENO, report());
    return;
  }
  for (std::size_t i = 0; i < found_.size(); i++) append_to_file(i);
}

void call_checks::take(device* of, bool at_exit) {
  if (of == nullptr) return;
  for (finding& f : of->take_findings(at_exit)) add(std::move(f));
}

void call_checks::add(finding what, const host_place& at) {
  located_finding found{std::move(what), at, {}, {}};
  if (!at.known()) found.host = place_of_origin(found.what.origin);
  found.allocated = place_of_origin(found.what.object.allocated_by);
  found.freed = place_of_origin(found.what.object.freed_by);
  // What a kernel allocated has advice already.
  if (found.what.kind == finding_kind::leak && found.what.advice.empty()) {
    found.what.advice =
        how_to_free(function_of(found.what.origin), found.host, is_python_process());
  }
  device* const on = state::get().current.get();
  if (on != nullptr && on->is_remote() && on->tell_finding(json_line(found))) return;
  if (found_.size() == most_findings) return;
  const auto [number, how] = merge_into(found_, std::move(found));
  if (how == merged::as::repeated) return;
  if (!file_.empty()) return append_to_file(number);
  if (!std::exchange(armed_, true)) {
    say_last_words_on({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM});
  }
  set_last_words(report());
}

bool call_checks::add_in_copy(finding what, const host_place& at) {
  process_ = getpid();
  add(std::move(what), at);
  if (file_.empty()) write_all(STDERR_FILENO, report());
  return file_.empty();
}

// What the file does not count yet of a finding.
void call_checks::append_to_file(std::size_t number) {
  if (getpid() != process_) return;  // a child of fork() has our state, and not our business
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

std::string call_checks::report() const {
  const finding_style style = style_of_stderr();
  std::string text;
  for (const located_finding& found : found_) {
    text += "\n" + plain_text(finding_lines(found, style));
  }
  if (!found_.empty()) text += "\n";
  if (const std::string note = missing_lines_note(found_, style); !note.empty()) {
    text += "stepwise: " + note + "\n";
  }
  return text + "stepwise: " + findings_summary(found_) + "\n";
}

std::uint64_t origin_of_launch() { return number_of_stack(program_stack()); }

void next_call_is_launch(std::uint64_t origin) { next_launch = {true, origin}; }

std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> threads{0};
  thread_local const std::uint64_t mine = ++threads;
  return mine;
}

}  // namespace stepwise::runtime
