// Puts the clock before the launch's other observers.
#include "common/emulator/kernel_time.hpp"

#include <algorithm>
#include <chrono>

#include "common/emulator/observers.hpp"

namespace stepwise::emulator {
namespace {

std::uint64_t date_ns() {
  using namespace std::chrono;
  const auto since_epoch = system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(duration_cast<nanoseconds>(since_epoch).count());
}

}  // namespace

bool kernel_time::follows(const launch_state& state) const {
  return state.code->reads_clock || (state.code->reads_timer && told_ns_ && state.watch != nullptr);
}

void kernel_time::launch(launch_state& state, const std::function<void(launch_state&)>& run) {
  if (!follows(state)) {
    state.began_ns = until_ns_;
    run(state);
    if (state.watch == nullptr) return;
    state.failure = state.watch->end_launch(state.failure);
    until_ns_ += state.counters.warp_instructions;
    return;
  }
  if (clock_ == nullptr) clock_ = std::make_unique<kernel_clock>(*state.model);
  const std::uint64_t begin = told_ns_ ? *told_ns_ : state.watch != nullptr ? 0 : date_ns();
  clock_->set_begin(std::max(begin, until_ns_));
  observers all;
  all.add(*clock_);
  if (state.watch != nullptr) all.add(*state.watch);
  state.watch = &all;
  state.time = clock_.get();
  run(state);
  state.failure = all.end_launch(state.failure);
  until_ns_ = clock_->end_ns();
}

}  // namespace stepwise::emulator
