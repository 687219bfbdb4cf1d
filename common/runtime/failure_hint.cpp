// Registers an exit handler that prints the hint if a kernel ran and the program failed.
#include "common/runtime/failure_hint.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/device/engine_settings.hpp"
#include "common/runtime/errors.hpp"
#include "common/runtime/host/last_words.hpp"

namespace stepwise::runtime {
namespace {

constexpr const char* hint =
    " after kernels ran; `lab exec --check` may find the cause (races, invalid addresses, "
    "unwritten memory)\n";

bool wanted = false;
std::atomic<pid_t> launching{0};  // process that launched; not a child of fork()

// Signal handlers call this too.
bool is_due() {
  return wanted && launching == getpid() && !has_announced() && stderr_is_unchanged();
}

void suggest_at_exit(int status, void*) {
  const int exit_code = status & 0xff;
  if (exit_code == 0 || !is_due()) return;
  write_all(STDERR_FILENO, "stepwise: exit code " + std::to_string(exit_code) + hint);
}

void suggest_at_abort(int number) {
  if (is_due()) {
    write_all(STDERR_FILENO, "stepwise: aborted");
    write_all(STDERR_FILENO, hint);
  }
  raise(number);  // SA_RESETHAND has restored the default action
}

// Registers before the program's own objects are constructed, to be called after their destructors.
__attribute__((constructor)) void watch_for_failure() {
  const auto settings = engine_settings::from_environment();
  wanted = settings.suggest_check && !settings.quiet;
  if (wanted) on_exit(suggest_at_exit, nullptr);
}

}  // namespace

void note_launch() {
  if (!wanted || launching != 0) return;
  launching = getpid();
  struct sigaction now {};
  if (sigaction(SIGABRT, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_handler = suggest_at_abort;
  ours.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGABRT, &ours, nullptr);
}

}  // namespace stepwise::runtime
