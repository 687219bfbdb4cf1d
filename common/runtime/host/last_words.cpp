// Keeps the text in an atomic pointer, and writes it when a signal ends the program.
#include "common/runtime/host/last_words.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

namespace stepwise::runtime {
namespace {

// Earlier texts stay where they are, since a handler may be reading one.
std::atomic<const std::string*> words{nullptr};

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

void set_last_words(std::string_view text) {
  words = text.empty() ? nullptr : new std::string(text);
}

void say_last_words() {
  if (const std::string* const text = words.exchange(nullptr)) write_all(STDERR_FILENO, *text);
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
