// Runs the grids that the host launches, and the grids that their kernels launch.
//
// idea    When a grid has ended, its children run, each followed by its own children, and then the
//         work in its tail stream (run/grid_launches.hpp). Pending work is a stack, so chains of
//         tail launches may be long. A launch whose grid waits may be left running. The launch is
//         then kept here, and continues in parallel with the host (running_grid.hpp). The host
//         changes memory and modules only while all workers rest between two slices, so they need
//         no locks.
//         Tested by run/tests/grid_launches_test.cpp, run/tests/left_launches_test.cpp and
//         common/runtime/conformance/{nested,beside}.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/device/engine_settings.hpp"
#include "common/emulator/check/checker.hpp"
#include "common/emulator/kernel_time.hpp"
#include "common/emulator/profile/profiler.hpp"
#include "common/emulator/run/grid_launches.hpp"
#include "common/emulator/running_grid.hpp"
#include "common/emulator/transfers.hpp"

namespace stepwise::emulator {

class grids {
 public:
  // Parts of the device, which outlive this object.
  struct parts {
    const gpu& model;
    const engine_settings& settings;
    global_memory& memory;
    device_library& library;
    unsigned workers = 1;
    checker* check = nullptr;     // null: nothing is checked
    profiler* profile = nullptr;  // null: nothing is counted by line
    transfer_counter* transfers = nullptr;
    observer* watch = nullptr;  // null: plain runs
    std::function<std::uint64_t(device_limit)> limit;
  };
  explicit grids(parts of);

  // Runs a lowered kernel whose launch was checked, and everything that it launches. Returns why
  // the kernel could not start. Sets `failure` to how it ended, unless it was left running.
  status launch(loaded_kernel& k, const launch_config& config,
                std::span<const std::byte> parameters, status& failure);

  // If `may` is set, later launches that wait may be left running. Otherwise, or in a watched
  // program, the names of their kernels are printed to stderr.
  void leave_waiting(bool may) {
    leaves_ = may && of_.watch == nullptr;
    announces_wait_ = !leaves_;
  }
  // The number, above 0, of the last launch if it was left running, otherwise 0.
  std::uint64_t last_left() const { return last_left_; }
  // Whether a launch that was left running had not ended at the last collect().
  bool runs(std::uint64_t launch) const;
  // The names of the kernels that run, or only of those that have polled.
  std::string running_kernels(bool only_waiting) const;
  bool none_left() const { return left_running_.empty(); }
  // Whether a launch that was left running launches kernels, and so may lower them.
  bool may_lower_kernels() const;
  // Continues the launches whose grids have ended. The first failure is stored in `failure`, and
  // ends all other launches.
  void collect(status& failure);
  // Ends all launches that were left running.
  void stop_left();

  // While this object exists, no worker of a launch that was left runs. At most one such object
  // exists at a time.
  class quiet {
   public:
    explicit quiet(grids& all);
    ~quiet();
    quiet(const quiet&) = delete;
    quiet& operator=(const quiet&) = delete;

   private:
    grids& all_;
  };

  kernel_time& time() { return time_; }
  const execution_counters& counters() const { return counters_; }
  void reset_counters() { counters_ = {}; }
  // The last launch with its children, as if they ran one after the other.
  std::optional<modelled_launch> last_launch() const { return last_; }

 private:
  // A launch by the host.
  struct host_launch {
    std::uint64_t number = 0;  // if it was left
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    const program* code = nullptr;          // its first grid's code
    std::unique_ptr<running_grid> running;  // null: none
    std::vector<child_work> to_do;          // work that remains; the last element is next
    status failure;
  };

  status prepare_library(const program& code);
  status start(host_launch& in, loaded_kernel& k, const launch_config& config,
               std::span<const std::byte> parameters, int depth);
  void describe(launch_state& state, const loaded_kernel& k, const launch_config& config,
                std::span<const std::byte> parameters) const;
  void finish(host_launch& in);
  bool resume(host_launch& in);
  status run_work(host_launch& in, child_work& work);
  status move_bytes(const child_work& work);
  bool run_blocks(running_grid& grid);

  parts of_;
  device_runtime runtime_;
  worker_threads threads_;
  kernel_time time_;
  execution_counters counters_;
  std::optional<modelled_launch> last_;
  bool leaves_ = false, announces_wait_ = false;
  std::uint64_t last_left_ = 0, left_so_far_ = 0;
  std::vector<std::unique_ptr<host_launch>>
      left_running_;  // launches that were left running, in order
};

}  // namespace stepwise::emulator
