// Keeps the device's counts, and writes them after the program's own destructors.
#include "common/runtime/profile_output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "common/device/engine_settings.hpp"
#include "common/report/profile_json.hpp"
#include "common/report/profile_text.hpp"
#include "common/runtime/errors.hpp"
#include "common/runtime/host/last_words.hpp"
#include "common/runtime/state.hpp"

namespace stepwise::runtime {
namespace {

bool asked_for_counters() { return engine_settings::from_environment().counters; }

std::vector<kernel_profile>& kept() {
  // Never destroyed, because the profile is printed after the program's own objects are destroyed.
  static auto* const profiles = new std::vector<kernel_profile>;
  return *profiles;
}

device_transfers& transfers() {
  static auto* const all = new device_transfers;
  return *all;
}

std::string& failure() {
  static auto* const text = new std::string;
  return *text;
}

std::size_t width_of_stderr() {
  winsize window{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col < 40) return 100;
  return std::min<std::size_t>(window.ws_col, 160);
}

const pid_t own_process = getpid();

// A child of fork() inherits the profile, but must not print it a second time.
void show_at_exit(int, void*) {
  if (getpid() != own_process) return;
  state& s = state::get();
  std::unique_lock guard(s.lock, std::defer_lock);
  // Another thread may be inside a kernel that never ends.
  for (int tries = 0; !guard.try_lock(); ++tries) {
    if (tries == 100) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  keep_profile(s.current.get());
  const std::string name = engine_settings::from_environment().profile;
  const bool shown = name.empty();
  const bool moved = transfers() != device_transfers{};
  if (kept().empty() && (shown || (failure().empty() && !moved))) return;
  if (shown)
    return write_all(STDERR_FILENO, "\n" + profile_text(kept(), {width_of_stderr(), true}));
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0)
    return announce("STEPWISE_PROFILE: " + name + " cannot be written: " + std::strerror(errno));
  write_all(file, profile_json(kept(), failure(), transfers()) + "\n");
  close(file);
}

// The C library calls show_at_exit() after the destructors of the program's own objects.
__attribute__((constructor)) void watch_for_profile() {
  if (asked_for_counters()) on_exit(show_at_exit, nullptr);
}

}  // namespace

void keep_profile(device* of) {
  auto* const counts = of != nullptr ? of->extras().profile : nullptr;
  if (counts == nullptr) return;
  for (kernel_profile& k : counts->take_profile()) kept().push_back(std::move(k));
  transfers() += counts->take_transfers();
}

void keep_failure(const std::string& what) {
  if (asked_for_counters() && failure().empty()) failure() = what;
}

}  // namespace stepwise::runtime
