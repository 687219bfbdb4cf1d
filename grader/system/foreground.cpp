// Starts the program by fork and exec, forwards signals to it, and waits.
#include "grader/system/foreground.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "grader/system/failure.hpp"
#include "grader/system/process.hpp"
#include "grader/system/signals.hpp"

namespace stepwise {
namespace {

std::atomic<pid_t> running{0};

// The terminal signals the whole group, with the kernel as the sender. A signal that another
// process sends to us alone is meant for the program.
void hand_on(int signal, siginfo_t* about, void*) {
  if (about->si_code <= 0 && running.load() > 0) kill(running.load(), signal);
}

void hand_signals_on() {
  struct sigaction action {};
  action.sa_sigaction = hand_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    sigaction(signal, &action, nullptr);
  }
}

[[noreturn]] void become(const char* program, char* const* command, char* const* environment,
                         const sigset_t& mask, int report, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent died before prctl
  restore_inherited_signals();
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execve(program, command, environment);
  const int error = errno;
  [[maybe_unused]] const auto n = ::write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

foreground_end run_in_foreground(const fs::path& program, const std::vector<std::string>& command,
                                 const std::vector<std::string>& environment) {
  std::vector<std::string> words = command, entries = merged_environment(environment);
  const auto word_pointers = pointers(words), entry_pointers = pointers(entries);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    throw failure(exit_code::environment, std::string("cannot create a pipe: ") + strerror(errno));
  }
  // Signals are blocked until there is a process to forward them to.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t parent = getpid();
  const pid_t id = fork();
  if (id == 0)
    become(program.c_str(), word_pointers.data(), entry_pointers.data(), before, report[1], parent);
  int error = id < 0 ? errno : 0;
  running.store(id);
  hand_signals_on();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(report[1]);
  while (read(report[0], &error, sizeof error) < 0 && errno == EINTR) {
  }
  close(report[0]);
  int status = 0;
  while (id > 0 && waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  running.store(0);
  if (error != 0) {
    throw failure(id < 0 ? exit_code::environment : exit_code::usage,
                  "cannot start " + program.string() + ": " + strerror(error));
  }
  if (WIFSIGNALED(status)) return {WTERMSIG(status), 128 + WTERMSIG(status)};
  return {0, WEXITSTATUS(status)};
}

}  // namespace stepwise
