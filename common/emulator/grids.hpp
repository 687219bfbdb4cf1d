// Runs the grid that the host launches, and those that kernels launch in turn.
//
// idea    A grid's children are done when it has ended, each with its own children, then what its
//         tail stream holds (run/grid_launches.hpp). What is left to do is a stack, so chains of
//         tail launches may be long.
//         If launches may be left, one whose grid waits is kept here, and goes on beside the host
//         (running_grid.hpp). What the host changes of memory and modules meanwhile it changes
//         while all workers rest between two slices, so that they need no locks.
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

#include "common/emulator/check/checker.hpp"
#include "common/emulator/kernel_time.hpp"
#include "common/emulator/profile/profiler.hpp"
#include "common/emulator/run/grid_launches.hpp"
#include "common/emulator/running_grid.hpp"
#include "common/emulator/transfers.hpp"

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
    transfer_counter* transfers = nullptr;
    observer* watch = nullptr;  // null: plain runs
    std::function<std::uint64_t(device_limit)> limit;
  };
  explicit grids(parts of);

  // Runs a kernel that was lowered and whose launch was checked, and all that it launches. The
  // answer says why it could not start; `failure` is how it ended, or unchanged if it was left.
  status launch(loaded_kernel& k, const launch_config& config,
                std::span<const std::byte> parameters, status& failure);

  // From now on launches that wait may be left. Without `may`, and in a watched program, they are
  // named on stderr instead.
  void leave_waiting(bool may) {
    leaves_ = may && of_.watch == nullptr;
    announces_wait_ = !leaves_;
  }
  // The number, above 0, of the last launch if it was left, else 0; whether it has not ended, as of
  // the last collect(); the names of the kernels that run, or of those that have polled.
  std::uint64_t last_left() const { return last_left_; }
  bool runs(std::uint64_t launch) const;
  std::string running_kernels(bool only_waiting) const;
  bool none_left() const { return beside_.empty(); }
  // Whether one of them may lower kernels, which it launches.
  bool lowers_beside() const;
  // Goes on with the launches whose grids have ended. The first failure goes to `failure`, and ends
  // all others.
  void collect(status& failure);
  // Ends all launches that were left, wherever they are.
  void stop_left();

  // While it exists, no worker of a launch that was left runs. There is one at a time.
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
    const program* code = nullptr;          // of its first grid
    std::unique_ptr<running_grid> running;  // null: none
    std::vector<child_work> to_do;          // the last one is next
    status failure;
  };

  status prepare_library(const program& code);
  status start(host_launch& in, loaded_kernel& k, const launch_config& config,
               std::span<const std::byte> parameters, int depth);
  void describe(launch_state& state, const loaded_kernel& k, const launch_config& config,
                std::span<const std::byte> parameters) const;
  void finish(host_launch& in);
  bool go_on(host_launch& in);
  status run_work(host_launch& in, child_work& work);
  status move_bytes(const child_work& work);
  bool run_blocks(running_grid& grid);

  parts of_;
  device_runtime runtime_;
  worker_threads threads_;
  kernel_time time_;
  execution_counters counters_;
  std::optional<modelled_launch> last_;
  const patience patience_ = patience::from_environment();
  bool leaves_ = false, announces_wait_ = false;
  std::uint64_t last_left_ = 0, left_so_far_ = 0;
  std::vector<std::unique_ptr<host_launch>> beside_;  // those that were left, as they came
};

}  // namespace stepwise::emulator
