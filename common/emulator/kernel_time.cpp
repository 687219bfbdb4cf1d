// Adds the clock before the launch's other observers.
#include "common/emulator/kernel_time.hpp"

#include <algorithm>
#include <chrono>

namespace stepwise::emulator {
namespace {

std::uint64_t date_ns() {
  using namespace std::chrono;
  const auto since_epoch = system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(duration_cast<nanoseconds>(since_epoch).count());
}

}  // namespace

bool kernel_time::follows(const launch_state& state) const {
  return state.code->reads_clock || (state.code->reads_timer && set_ns_ && state.watch != nullptr);
}

void kernel_time::begin(launch_state& state, following& with) {
  if (!follows(state)) {
    state.began_ns = until_ns_;
    return;
  }
  with.clock = idle_ != nullptr ? std::move(idle_) : std::make_unique<kernel_clock>(*state.model);
  const std::uint64_t asked = set_ns_ ? *set_ns_ : state.watch != nullptr ? 0 : date_ns();
  const std::uint64_t begin = std::max(asked, until_ns_);
  if (!origin_ns_) origin_ns_ = begin;
  with.clock->set_begin(begin, *origin_ns_);
  with.all.add(*with.clock);
  if (state.watch != nullptr) with.all.add(*state.watch);
  state.watch = &with.all;
  state.time = with.clock.get();
}

void kernel_time::end(launch_state& state, following& with) {
  if (state.watch == nullptr) return;
  state.failure = state.watch->end_launch(state.failure);
  if (with.clock == nullptr) {
    until_ns_ += state.counters.warp_instructions + state.skipped_ns;
    return;
  }
  until_ns_ = std::max(until_ns_, with.clock->end_ns());
  idle_ = std::move(with.clock);
}

}  // namespace stepwise::emulator
