// Forks, limits the child, and reads its answer.
#include "grader/system/isolated.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "grader/system/stopwatch.hpp"
#include "grader/system/system_calls.hpp"

namespace stepwise {
namespace {

constexpr rlim_t memory_bytes = rlim_t{1} << 30;

[[noreturn]] void answer_and_end(const std::function<std::string()>& compute, int to,
                                 unsigned seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) signal(number, SIG_DFL);
  const struct rlimit time { seconds, seconds };
  setrlimit(RLIMIT_CPU, &time);
  // Mapped memory counts towards this limit, too.
  const struct rlimit memory { memory_bytes, memory_bytes };
  setrlimit(RLIMIT_DATA, &memory);
  const struct rlimit none { 0, 0 };
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_FSIZE, &none);
  restrict_system_calls(computation_filter());
  std::string text;
  try {
    text = compute();
  } catch (...) {
    _exit(1);
  }
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(to, text.data() + at, text.size() - at);
    if (n <= 0) _exit(1);
    at += static_cast<std::size_t>(n);
  }
  _exit(0);
}

// Reads until the other end is closed. Returns false if that takes too long or yields too many
// bytes.
bool read_all(int from, double seconds, std::size_t most_bytes, std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  char part[4096];
  while (true) {
    const double left = seconds - seconds_since(start);
    pollfd ready{from, POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(1000 * left) + 1) == 0) return false;
    const ssize_t n = read(from, part, sizeof part);
    if (n == 0) return true;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 || text.size() + static_cast<std::size_t>(n) > most_bytes) return false;
    text.append(part, static_cast<std::size_t>(n));
  }
}

}  // namespace

std::optional<std::string> run_isolated(const std::function<std::string()>& compute,
                                        unsigned seconds, std::size_t most_bytes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t id = fork();
  if (id == 0) {
    close(ends[0]);
    answer_and_end(compute, ends[1], seconds);
  }
  close(ends[1]);
  std::string text;
  // Wall time is generous, because a loaded machine must not count against the computation.
  const bool whole = id > 0 && read_all(ends[0], 6.0 * seconds, most_bytes, text);
  close(ends[0]);
  if (id < 0) return std::nullopt;
  if (!whole) kill(id, SIGKILL);
  int status = 0;
  while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  if (!whole || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return text;
}

}  // namespace stepwise
