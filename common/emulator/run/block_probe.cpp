// Launches one block with an observer that counts its work and skips its writes.
#include "common/emulator/run/block_probe.hpp"

namespace stepwise::emulator {
namespace {

class work_counter final : public observer {
 public:
  explicit work_counter(std::uint64_t enough) : enough_(enough) {}

  std::int64_t slice() override { return done_.total() < enough_ ? slice_of_warp : 0; }
  std::uint32_t access(const access_event& e) override {
    if (e.space != memory_space::global) return e.active;
    const bool is_load = e.site->kind == access_kind::load;
    if (e.active != 0) {
      ++done_.requests;
      done_.writes += is_load ? 0 : 1;
    }
    return is_load ? e.active : 0;
  }
  void executed(std::uint32_t, std::uint32_t first, std::uint32_t end, std::uint32_t) override {
    done_.instructions += end - first;
  }

  const probed_work& done() const { return done_; }

 private:
  static constexpr std::int64_t slice_of_warp = 200;
  std::uint64_t enough_;
  probed_work done_;
};

}  // namespace

bool can_probe(const launch_state& launch) {
  const auto calls = [&](device_function f) { return launch.code->uses(f); };
  return launch.time == nullptr && launch.grid_workspace == 0 && volume(launch.cluster) == 1 &&
         !launch.code->writes_in_bulk && !calls(device_function::vprintf) &&
         !calls(device_function::malloc) && !calls(device_function::free) &&
         !calls(device_function::assertfail) && !calls(device_function::runtime);
}

probed_work work_of_block(const launch_state& launch, std::uint64_t block, std::uint64_t enough) {
  work_counter counter(enough);
  launch_state probe;
  probe.code = launch.code;
  probe.model = launch.model;
  probe.memory = launch.memory;
  probe.config = launch.config;
  probe.parameters = launch.parameters;
  probe.library = launch.library;
  probe.stack_limit = launch.stack_limit;
  probe.watch = &counter;
  probe.attributes = launch.attributes;
  probe.machine_code = launch.machine_code;
  probe.next_block = block;
  probe.block_count = block + 1;
  probe.deadline = launch.deadline;
  probe.time_limit_s = launch.time_limit_s;
  scheduler(probe).run();
  return counter.done();
}

}  // namespace stepwise::emulator
