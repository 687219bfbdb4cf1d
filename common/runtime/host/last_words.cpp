// Keeps the text in an atomic pointer, and writes it when a signal ends the program.
#include "common/runtime/host/last_words.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "common/device/interruption.hpp"

namespace stepwise::runtime {
namespace {

struct last_text {
  std::string text, file;
  pid_t process;
};

// Earlier texts stay where they are, because a handler may be reading one of them.
std::atomic<const last_text*> words{nullptr};

struct stat stderr_at_start {};
const bool has_stderr = fstat(STDERR_FILENO, &stderr_at_start) == 0;

void end_on_signal(int number) {
  say_last_words();
  raise(number);  // the default action is restored
}

void set_handler(int number, void (*handler)(int), int flags) {
  struct sigaction now {};
  if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_handler = handler;
  ours.sa_flags = flags;
  sigaction(number, &ours, nullptr);
}

// On the first signal, lets a running launch end the program.
void stop_on_signal(int number) {
  int none = 0;
  if (interrupted.signal.compare_exchange_strong(none, number) && interrupted.launches != 0) return;
  signal(number, SIG_DFL);
  end_on_signal(number);
}

}  // namespace

bool stderr_is_unchanged() {
  struct stat now {};
  return has_stderr && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == stderr_at_start.st_dev &&
         now.st_ino == stderr_at_start.st_ino;
}

void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(to, text.data(), text.size());
    if (put <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void set_last_words(std::string_view text, const std::string& file) {
  words = text.empty() ? nullptr : new last_text{std::string(text), file, getpid()};
}

void say_last_words() {
  const last_text* const last = words.exchange(nullptr);
  if (last == nullptr) return;
  if (last->file.empty()) return write_all(STDERR_FILENO, last->text);
  if (last->process != getpid()) return;
  const int file = open(last->file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  write_all(file, last->text);
  close(file);
}

void say_last_words_on(std::initializer_list<int> signals) {
  for (const int number : signals)
    set_handler(number, end_on_signal, static_cast<int>(SA_RESETHAND));
}

void stop_launches_on(std::initializer_list<int> signals) {
  for (const int number : signals) set_handler(number, stop_on_signal, SA_RESTART);
}

void end_by_signal(int number) {
  signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
}

}  // namespace stepwise::runtime
