// Records that the program queried a time, and prints the note after the program's destructors.
#include "common/runtime/event_times.hpp"

#include <unistd.h>

#include <string_view>

#include "common/device/engine_settings.hpp"
#include "common/runtime/errors.hpp"
#include "common/runtime/host/last_words.hpp"

namespace stepwise::runtime {
namespace {

std::string wanted_times() { return engine_settings::from_environment().event_times; }

// The last query, and its process, because a child of fork() inherits this data. Never destroyed.
struct asked_times {
  pid_t process = 0;
  std::string gpu;
  std::uint64_t untimed = 0;
};
asked_times& last_asked() {
  static auto* const only = new asked_times;
  return *only;
}

void say_at_exit(int, void*) {
  const asked_times& a = last_asked();
  if (a.process != getpid() || is_quiet() || !stderr_is_unchanged()) return;
  std::string text = wants_modelled_events()
                         ? "stepwise: times between events are modelled (" + a.gpu +
                               "): kernel times come from the time model, copies to and from the "
                               "host are estimated\n"
                         : "stepwise: times between events are durations of the emulation on this "
                           "CPU, not of a GPU; for modelled times, use `lab exec --time` (" +
                               a.gpu + ")\n";
  if (wants_modelled_events() && a.untimed != 0)
    text += "stepwise: " + std::to_string(a.untimed) +
            (a.untimed == 1 ? " launch has no modelled time and counts as zero\n"
                            : " launches have no modelled time and count as zero\n");
  write_all(STDERR_FILENO, text);
}

__attribute__((constructor)) void watch_for_event_times() {
  const std::string wanted = wanted_times();
  if (!wanted.empty() && !wanted.ends_with(",quiet")) on_exit(say_at_exit, nullptr);
}

}  // namespace

bool wants_modelled_events() { return wanted_times().starts_with("modelled"); }

void note_elapsed_time(const std::string& gpu, std::uint64_t untimed) {
  last_asked() = {getpid(), gpu, untimed};
}

}  // namespace stepwise::runtime
