// Catches SIGSEGV, and has a copy of the process find the message and the source line. Asks the
// device about accesses to guarded pages.
#include "common/runtime/host_access.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <mutex>
#include <new>

#include "common/report/finding_text.hpp"
#include "common/runtime/errors.hpp"
#include "common/runtime/host/call_stacks.hpp"
#include "common/runtime/host/guarded_pages.hpp"
#include "common/runtime/host/last_words.hpp"
#include "common/runtime/state.hpp"

namespace stepwise::runtime {
namespace {

constexpr std::size_t stack_bytes = std::size_t{4} << 20;
constexpr unsigned seconds_for_words = 10;

struct fault {
  device_address at = 0;
  bool writes = false;
  std::array<std::uintptr_t, 64> stack{};
  std::size_t frames = 0;
};

// The way in which the copy of the process ended.
enum copy_end { reported = 0, reported_in_checks = 1, no_words = 2 };

struct sigaction before {};  // the signal action that was set before ours
std::atomic_flag reporting;  // set by the reporting thread; others wait for it

// For example "main at saxpy.cu:12: the host reads device memory: ..., allocated at saxpy.cu:8".
std::string sentence_of(const finding& what, const host_place& at) {
  const finding_style style = style_of_stderr();
  std::string text = what.message;
  if (!at.file.empty()) {
    text = at.function + " " + place_words(at, style) + ": " + text;
  } else if (!at.function.empty()) {
    text = at.function + ": " + text;
  }
  const host_place allocated = place_of_origin(what.object.allocated_by);
  if (what.object.name.empty() && allocated.known())
    text += ", allocated " + place_words(allocated, style);
  const host_place freed = place_of_origin(what.object.freed_by);
  if (freed.known()) text += ", freed " + place_words(freed, style);
  if (at.file.empty()) text += "; compile with -g to see the line";
  std::string advice = what.advice;
  advice.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(advice.front())));
  return text + "; " + advice.substr(0, advice.find_last_not_of('.') + 1);
}

// Runs in the copy of the process. In the copy, locks may be held forever by threads that the copy
// does not have. It therefore takes as few locks as it can, and an alarm ends it.
int find_words(void* argument) {
  for (const int number : {SIGALRM, SIGSEGV, SIGBUS, SIGABRT}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(seconds_for_words);
  const fault& f = *static_cast<const fault*>(argument);
  state& s = state::get();
  const auto found = s.current->extras().addresses->host_access(f.at, f.writes);
  if (!found) return no_words;
  const host_place place = place_of_stack(std::span(f.stack).first(f.frames));
  announce(sentence_of(*found, place));
  return s.checks && s.checks->add_in_copy(*found, place) ? reported_in_checks : reported;
}

copy_end report_in_copy(fault& f) {
  void* const stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return no_words;
  // The copy sends no signal when it exits, so the program's waits and handlers do not notice it.
  const pid_t copy = clone(find_words, static_cast<std::byte*>(stack) + stack_bytes, 0, &f);
  int end = 0;
  pid_t waited = copy;
  if (copy > 0) {
    while ((waited = waitpid(copy, &end, __WALL)) < 0 && errno == EINTR) {
    }
  }
  munmap(stack, stack_bytes);
  const bool ended = waited > 0 && WIFEXITED(end) && WEXITSTATUS(end) <= reported_in_checks;
  return ended ? static_cast<copy_end>(WEXITSTATUS(end)) : no_words;
}

bool is_device_address(const siginfo_t& about) {
  if (about.si_code <= 0) return false;  // sent by kill() or the like
  const device* const current = state::get().current.get();
  const own_addresses* const own = current ? current->extras().addresses : nullptr;
  return own != nullptr && own->owns_address(reinterpret_cast<device_address>(about.si_addr));
}

// Reports the access. Returns true if the findings of the checks were printed as well. Sets
// `reporting`.
bool report_access(const siginfo_t& about, const ucontext_t& interrupted) {
  while (reporting.test_and_set()) {
    const timespec moment{0, 10'000'000};
    nanosleep(&moment, nullptr);
  }
  static fault f;
  f.at = reinterpret_cast<device_address>(about.si_addr);
  constexpr greg_t write_access = 2;  // in a page fault's error code (Intel's manual, 4.7)
  f.writes = (interrupted.uc_mcontext.gregs[REG_ERR] & write_access) != 0;
  const auto instruction = static_cast<std::uintptr_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
  f.frames = interrupted_stack(instruction, f.stack);
  const copy_end end = report_in_copy(f);
  if (end == no_words) {
    write_all(STDERR_FILENO,
              "stepwise: the host dereferences a pointer to device memory; copy the data with "
              "cudaMemcpy first\n");
  }
  return end == reported_in_checks;
}

void on_fault(int number, siginfo_t* about, void* interrupted) {
  if (continue_after(*about, *static_cast<ucontext_t*>(interrupted))) return;
  const int error = errno;
  const bool is_ours = is_device_address(*about);
  const bool reported =
      is_ours && report_access(*about, *static_cast<const ucontext_t*>(interrupted));
  errno = error;
  const bool is_handled = (before.sa_flags & SA_SIGINFO) || before.sa_handler != SIG_DFL;
  if (is_ours && is_handled) reporting.clear();  // the program may continue
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(number, about, interrupted);
  if (is_handled) return before.sa_handler(number);
  if (!reported) say_last_words();
  signal(number, SIG_DFL);
  // A faulting instruction faults again after we return. A signal that was sent must be sent again.
  if (about->si_code <= 0) raise(number);
}

// --- memory that unfinished work still uses ------------------------------------------------------

// Calls `use` with the device's checks, unless another thread is in an API call.
template <class Use>
void with_checks(Use&& use) {
  state& s = state::get();
  const std::unique_lock guard(s.lock, std::try_to_lock);
  if (!guard.owns_lock() || !s.current) return;
  if (auto* const checks = s.current->extras().host_accesses) use(*checks);
}

host_touch touches(device_address at, bool writes) {
  host_touch found = host_touch::flag;
  with_checks([&](host_access_checks& on) { found = on.host_touches(at, writes); });
  return found;
}

void was_early(device_address at, bool writes, const call_stack& from) {
  with_checks(
      [&](host_access_checks& on) { on.host_was_early(at, writes, number_of_stack(from)); });
}

void waited_by(device_address at, bool writes) {
  with_checks([&](host_access_checks& on) { on.host_waited_by(at, writes); });
}

}  // namespace

std::string place_words(const host_place& place, const finding_style& style) {
  located_finding at;
  at.host = place;
  const std::string line = place_of(at, style);
  return line.empty() ? "in " + place.function + "()" : "at " + line;
}

void guard_unfinished_memory(state& s) {
  static constexpr access_judge judge = {touches, was_early, waited_by, on_fault};
  auto* const checks = s.current && s.fault.ok() ? s.current->extras().host_accesses : nullptr;
  guard_pages(checks != nullptr ? checks->unfinished_areas() : std::vector<unfinished_area>(),
              judge);
}

void watch_host_accesses() {
  static std::atomic_flag watching;
  if (watching.test_and_set()) return;
  (void)program_stack();  // finds our own code range now, since that takes a lock
  if (sigaction(SIGSEGV, nullptr, &before) != 0) return;
  if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_IGN) return;
  struct sigaction ours = before;  // so a program's handler runs on the stack it expects
  ours.sa_sigaction = on_fault;
  ours.sa_flags |= SA_SIGINFO;
  sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace stepwise::runtime
