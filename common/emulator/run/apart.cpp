// A launch of one block with an observer that holds back what writes.
#include "common/emulator/run/apart.hpp"

#include <algorithm>

namespace stepwise::emulator {
namespace {

class work_counter final : public observer {
 public:
  explicit work_counter(std::uint64_t enough) : enough_(enough) {}

  std::int64_t slice() override { return done_ < enough_ ? slice_of_warp : 0; }
  std::uint32_t access(const access_event& e) override {
    if (e.space != memory_space::global) return e.active;
    if (e.active != 0) done_ += instructions_of_request;
    return e.site->kind == access_kind::load ? e.active : 0;
  }
  void executed(std::uint32_t, std::uint32_t first, std::uint32_t end, std::uint32_t) override {
    done_ += end - first;
  }

  std::uint64_t done() const { return done_; }

 private:
  static constexpr std::int64_t slice_of_warp = 200;
  static constexpr std::uint64_t instructions_of_request = 8;
  std::uint64_t enough_, done_ = 0;
};

}  // namespace

bool can_run_apart(const launch_state& launch) {
  const auto calls = [&](device_function f) { return launch.code->uses(f); };
  return launch.time == nullptr && launch.grid_workspace == 0 && !calls(device_function::vprintf) &&
         !calls(device_function::malloc) && !calls(device_function::free) &&
         !calls(device_function::assertfail);
}

std::uint64_t work_of_block(const launch_state& launch, std::uint64_t block, std::uint64_t enough) {
  work_counter counter(enough);
  launch_state apart;
  apart.code = launch.code;
  apart.model = launch.model;
  apart.memory = launch.memory;
  apart.config = launch.config;
  apart.parameters = launch.parameters;
  apart.library = launch.library;
  apart.stack_limit = launch.stack_limit;
  apart.watch = &counter;
  apart.attributes = launch.attributes;
  apart.machine_code = launch.machine_code;
  apart.next_block = block;
  apart.block_count = block + 1;
  apart.deadline = launch.deadline;
  apart.time_limit_s = launch.time_limit_s;
  scheduler(apart).run();
  return std::min(counter.done(), enough);
}

}  // namespace stepwise::emulator
