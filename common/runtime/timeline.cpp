// Keeps the list, and writes it after the program's own destructors.
#include "common/runtime/timeline.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "common/device/engine_settings.hpp"
#include "common/runtime/errors.hpp"
#include "common/runtime/event_times.hpp"
#include "common/runtime/host/last_words.hpp"
#include "common/runtime/state.hpp"

namespace stepwise::runtime {
namespace {

constexpr std::size_t most_asked = 200'000;

std::string wanted_file() { return engine_settings::from_environment().timeline; }

// Turns "cudaError_t cudaMalloc(void**, size_t)" into "cudaMalloc", and "cuMemAlloc_v2" into
// "cuMemAlloc".
std::string name_in(std::string_view function) {
  function = function.substr(0, function.find('('));
  const auto version = function.rfind("_v");
  if (version != function.npos && version + 3 == function.size()) function.remove_suffix(3);
  const auto before = function.find_last_of(" *:_");
  return std::string(before == function.npos ? function : function.substr(before + 1));
}

const pid_t process_that_records = getpid();

// A child of fork() inherits the list, but must not write it a second time.
void write_at_exit(int, void*) {
  if (getpid() != process_that_records) return;
  state& s = state::get();
  std::unique_lock guard(s.lock, std::defer_lock);
  // Another thread may be inside a kernel that never ends.
  for (int tries = 0; !guard.try_lock(); ++tries) {
    if (tries == 100) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::string name = wanted_file();
  if (!s.recorder || name.empty()) return;
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0)
    return announce("STEPWISE_TIMELINE: " + name + " cannot be written: " + std::strerror(errno));
  write_all(file, asked_json(s.recorder->list()) + "\n");
  close(file);
}

// The C library calls write_at_exit() after the destructors of the program's own objects.
__attribute__((constructor)) void watch_for_timeline() {
  if (!wanted_file().empty()) on_exit(write_at_exit, nullptr);
}

}  // namespace

std::unique_ptr<call_recorder> call_recorder::from_environment() {
  if (wanted_file().empty() && !wants_modelled_events()) return nullptr;
  auto made = std::make_unique<call_recorder>();
  made->keeps_list_ = !wanted_file().empty();
  return made;
}

void call_recorder::begin(const gpu& model) {
  if (wants_modelled_events() && !clock_) clock_.emplace(rates_of(model));
}

void call_recorder::before_launch(device& on, const stream_use& in) {
  if (!clock_) return;
  const double us = clock_->begin_of_next(in.stream, in.non_blocking);
  if (auto* const time = on.extras().time) time->set_time(static_cast<std::uint64_t>(1e3 * us));
}

void call_recorder::after_launch(const device& on, asked& kernel) {
  auto* const time = on.extras().time;
  const auto modelled = time != nullptr ? time->last_launch() : std::nullopt;
  if (!modelled) {
    ++untimed_;
    return;
  }
  kernel.us = modelled->us;
  kernel.fills = modelled->fills;
}

std::optional<float> call_recorder::elapsed_ms(std::uint64_t first, std::uint64_t second) const {
  if (!clock_) return std::nullopt;
  return static_cast<float>((clock_->time_of_event(second) - clock_->time_of_event(first)) / 1e3);
}

void call_recorder::add(asked what) {
  if (clock_) clock_->add(what);
  if (!keeps_list_) return;
  if (list_.all.size() == most_asked) {
    ++list_.dropped;
    return;
  }
  what.call = call_;
  what.name = name_in(function_);
  list_.all.push_back(std::move(what));
}

void call_recorder::end_call() {
  // Skip internal helpers, whose names mean nothing to the program's author.
  if (keeps_list_ && (list_.all.empty() || list_.all.back().call != call_))
    if (name_in(function_).starts_with("cu")) add({});
}

}  // namespace stepwise::runtime
