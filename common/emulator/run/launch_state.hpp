// State that all workers of a launch share.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

#include "common/device/device.hpp"
#include "common/device/patience.hpp"
#include "common/emulator/machine/memory.hpp"
#include "common/emulator/machine/observer.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/machine/warp_time.hpp"
#include "common/emulator/run/breaks.hpp"
#include "common/emulator/run/device_library.hpp"

namespace stepwise::emulator {

class grid_launches;

// The memory that grid.sync() uses in a cooperative launch: its barrier takes a few words.
inline constexpr std::uint64_t grid_workspace_bytes = 256;
inline constexpr const char* grid_barrier_name = "the grid's barrier";

struct launch_state {
  const program* code = nullptr;
  const gpu* model = nullptr;
  global_memory* memory = nullptr;
  launch_config config;
  std::vector<std::byte> parameters;
  device_library* library = nullptr;
  grid_launches* launches = nullptr;  // of a kernel that calls the runtime
  std::uint64_t stack_limit = 0;      // bytes of each thread
  std::uint64_t grid_workspace = 0;   // device address, of a cooperative launch
  observer* watch = nullptr;          // of a watched program; the launch then has one worker
  const kernel_attributes* attributes = nullptr;
  const image::kernel_resources* machine_code = nullptr;  // null: there is none
  std::uint64_t block_count = 0;
  extent cluster;                    // blocks
  bool is_explicit_cluster = false;  // the kernel or the launch asks for clusters
  unsigned resident_blocks = 1;      // that one worker may hold at a time while no warp has exited
  std::atomic<std::uint64_t> next_block{0};
  std::atomic<bool> stop{false};
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  double time_limit_s = 0;          // 0: none
  warp_time* time = nullptr;        // of a kernel whose clocks follow the model; it is watched
  std::uint64_t began_ns = 0;       // %globaltimer when any other watched launch begins
  launch_breaks* breaks = nullptr;  // of a launch that its thread may leave
  stepwise::patience patience;
  unsigned copy_seed = 0;  // determines the delays of bulk copies; 0: no delay
  // In a watched launch, the time added to %globaltimer by waits for it.
  std::uint64_t skipped_ns = 0;
  std::atomic<bool> announces_wait{false};  // reports on stderr, once, that it has polled for long
  bool ends_hangs = false;                  // stops the launch if it is found never to end
  bool others_write = true;  // kernels and copies in other streams may run at the same time

  std::mutex mutex;  // guards what follows
  status failure;
  execution_counters counters;
};

}  // namespace stepwise::emulator
