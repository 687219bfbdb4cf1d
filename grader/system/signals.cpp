// Stores the number of signals that arrived, the groups to kill, and the inherited actions.
#include "grader/system/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <iterator>

#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

std::atomic<int> arrived{0};
std::atomic<pid_t> groups[64];

constexpr int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
struct sigaction inherited[std::size(handled)];
bool installed = false;

void on_signal(int) {
  if (arrived.fetch_add(1) == 0) return;
  for (const auto& group : groups) {
    if (const pid_t id = group.load(); id > 0) kill(-id, SIGKILL);
  }
  _exit(130);
}

}  // namespace

void install_signal_handlers() {
  for (std::size_t i = 0; i < std::size(handled); ++i) {
    sigaction(handled[i], nullptr, &inherited[i]);
  }
  installed = true;
  struct sigaction action {};
  action.sa_handler = on_signal;  // no SA_RESTART: poll must return
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) signal(signal_number, SIG_IGN);
}

void restore_inherited_signals() {
  if (!installed) return;
  for (std::size_t i = 0; i < std::size(handled); ++i) {
    sigaction(handled[i], &inherited[i], nullptr);
  }
}

void throw_if_interrupted() {
  if (arrived.load() != 0) throw interrupted();
}

void register_group(pid_t group) {
  for (auto& slot : groups) {
    pid_t empty = 0;
    if (slot.compare_exchange_strong(empty, group)) return;
  }
}

void forget_group(pid_t group) {
  for (auto& slot : groups) {
    pid_t expected = group;
    if (slot.compare_exchange_strong(expected, 0)) return;
  }
}

}  // namespace stepwise
