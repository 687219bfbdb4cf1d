// The CUDA runtime in kernels: launches, copies and fills that a grid requests, and queries.
//
// idea    A grid's requests are kept in call order and run when the grid has ended, so each request
//         finds its streams' earlier work and events done. Requests in the tail stream run after
//         all others, including those that these make in turn. A kernel cannot wait for its own
//         child, so it never sees the difference.
// source  CUDA C++ Programming Guide, "CUDA Dynamic Parallelism". Tested by
//         common/runtime/conformance/nested and tests/grid_launches_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/emulator/machine/modules.hpp"
#include "common/emulator/run/device_library.hpp"

namespace stepwise::emulator {

// Limits of pending work, as on an H100 with the default cudaLimitDevRuntimePendingLaunchCount: the
// depth of grids that wait for their children (0 for a grid that the host launches; a tail launch
// is as deep as the grid that it follows), and the tail launches of one grid.
inline constexpr int most_depth = 2048;
inline constexpr std::size_t most_tails = 2048;
// The limit of one grid's other requests, so that a program cannot take all of the host's memory.
inline constexpr std::size_t most_pending = 1 << 20;

// Rows of bytes in planes.
struct child_area {
  std::uint64_t at = 0, pitch = 0, plane = 0;
};

// The work that a grid requests.
struct child_work {
  enum class what : std::uint8_t { grid, copy, fill } kind = what::grid;
  loaded_kernel* kernel = nullptr;
  launch_config config;
  std::vector<std::byte> parameters;
  int depth = 0;
  // For copies and fills.
  child_area to, from;
  std::uint64_t width = 0, height = 1, planes = 1;
  std::uint8_t value = 0;
  std::string where;  // kernel and line, for messages
};

// The part of the runtime that all grids of a device share.
class device_runtime {
 public:
  device_runtime(const gpu& model, global_memory& memory, device_library& library)
      : model(model), memory(memory), library(library) {}

  // Called before a launch. Allocates the room for parameters and the texts of errors, once. `made`
  // is called for each piece of memory.
  using made_memory = std::function<void(std::uint64_t at, std::uint64_t bytes, const char* name)>;
  status make(const made_memory& made);

  const gpu& model;
  global_memory& memory;
  device_library& library;
  std::function<status(loaded_kernel&)> prepare;     // lowers a kernel that is launched
  std::function<std::uint64_t(device_limit)> limit;  // what the program has set
  // Held by the calls of all running grids, which lower kernels and share the members below.
  std::mutex mutex;

  std::uint64_t take_buffer(std::uint64_t bytes);  // 0 if there is no room
  void give_back_buffer(std::uint64_t at, std::uint64_t bytes);
  std::uint64_t text_of(int code, bool name) const;

 private:
  free_ranges buffers_;
  bool is_made_ = false;
  struct texts {
    std::uint64_t name, text;
  };
  std::map<int, texts> texts_;  // device addresses
  texts unknown_{};
};

// The part of the runtime that belongs to one grid.
class grid_launches {
 public:
  grid_launches(device_runtime& runtime, loaded_module& module, const launch_config& config,
                int depth)
      : runtime_(runtime), module_(module), config_(config), depth_(depth) {}
  ~grid_launches();

  // Runs a call for the active lanes of the context. Returns the next op, or null after a failure.
  const op* call(const library_call& site, scheduler& owner, context& x, const op* i);

  // Called after the grid has ended.
  std::vector<child_work> take_children() { return std::move(children_); }
  std::vector<child_work> take_tails() { return std::move(tails_); }

 private:
  struct lane_call;
  struct buffer {
    loaded_kernel* kernel = nullptr;
    launch_config config;
    std::uint64_t bytes = 0;
  };
  std::uint64_t answer(lane_call& c);
  error query(lane_call& c, runtime_function which);
  error use_stream(lane_call& c, runtime_function which);
  error request(lane_call& c, runtime_function which);
  error get_buffer(lane_call& c, bool for_kernel, std::uint64_t& at);
  error launch(lane_call& c, bool from_buffer);
  error add(child_work work, std::uint64_t stream);
  error add_copy(lane_call& c, child_work work, std::uint64_t stream);
  error check(lane_call& c, std::uint64_t function, const launch_config& config,
              loaded_kernel*& kernel);
  void give_back_spent();
  loaded_kernel* kernel_at(std::uint64_t address);
  bool is_stream(std::uint64_t stream) const;

  device_runtime& runtime_;
  loaded_module& module_;
  launch_config config_;
  int depth_;
  // device_runtime::mutex guards the members below and all shared state while the grid runs.
  std::vector<child_work> children_, tails_;
  std::map<std::uint64_t, buffer> buffers_;                     // by address
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spent_;  // addresses, bytes
  std::set<std::uint64_t> streams_, events_;                    // handles
  std::uint64_t last_handle_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, error> last_errors_;  // by block and thread
};

}  // namespace stepwise::emulator
