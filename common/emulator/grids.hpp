// Runs the grid that the host launches, and those that kernels launch in turn.
//
// idea    A grid's children are done when it has ended, each with its own children, then what its
//         tail stream holds (run/grid_launches.hpp). What is left to do is a stack, so chains of
//         tail launches may be long.
//         Tested by run/tests/grid_launches_test.cpp and common/runtime/conformance/nested.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "common/emulator/check/checker.hpp"
#include "common/emulator/kernel_time.hpp"
#include "common/emulator/profile/profiler.hpp"
#include "common/emulator/run/grid_launches.hpp"

namespace stepwise::emulator {

class grids {
 public:
  // Of the device; they outlive this.
  struct parts {
    const gpu& model;
    global_memory& memory;
    device_library& library;
    unsigned workers = 1;
    checker* check = nullptr;     // null: nothing is checked
    profiler* profile = nullptr;  // null: nothing is counted by line
    observer* watch = nullptr;    // null: plain runs
    std::function<std::uint64_t(device_limit)> limit;
  };
  explicit grids(parts of);

  // Runs a kernel that was lowered and whose launch was checked, and all that it launches. The
  // answer says why it could not start; `failure` is how it ended.
  status launch(loaded_kernel& k, const launch_config& config,
                std::span<const std::byte> parameters, status& failure);

  kernel_time& time() { return time_; }
  const execution_counters& counters() const { return counters_; }
  void reset_counters() { counters_ = {}; }
  // The last launch with its children, as if they ran one after the other.
  std::optional<modelled_launch> last_launch() const { return last_; }

 private:
  status prepare_library(const program& code);
  status run_grid(loaded_kernel& k, const launch_config& config,
                  std::span<const std::byte> parameters, grid_launches* launches, status& failure);
  status run_work(child_work& work);
  status move_bytes(const child_work& work);
  void run_blocks(launch_state& state);
  void push(grid_launches& launches);

  parts of_;
  device_runtime runtime_;
  kernel_time time_;
  execution_counters counters_;
  std::optional<modelled_launch> last_;
  std::chrono::steady_clock::time_point deadline_;  // of the host's launch and all that follows
  std::vector<child_work> left_;                    // the last one is next
};

}  // namespace stepwise::emulator
