// Keeps the text in an atomic pointer, and writes it when a signal ends the program.
#include "common/runtime/host/last_words.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

namespace stepwise::runtime {
namespace {

struct last_text {
  std::string text, file;
  pid_t process;
};

// Earlier texts stay where they are, since a handler may be reading one.
std::atomic<const last_text*> words{nullptr};

struct stat stderr_at_start {};
const bool has_stderr = fstat(STDERR_FILENO, &stderr_at_start) == 0;

void end_on_signal(int number) {
  say_last_words();
  raise(number);  // the disposition is the default one again
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
  for (const int number : signals) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ours.sa_handler = end_on_signal;
    ours.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(number, &ours, nullptr);
  }
}

}  // namespace stepwise::runtime
