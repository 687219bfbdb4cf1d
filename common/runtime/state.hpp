// The state of the process: the device, all registered and created objects, and the lock.
//
// tests   tests/memory_test.cpp, tests/launch_test.cpp, over tests/fake_device.hpp
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "common/device/engine_settings.hpp"
#include "common/runtime/checks.hpp"
#include "common/runtime/managed.hpp"
#include "common/runtime/order/order.hpp"
#include "common/runtime/pools.hpp"
#include "common/runtime/registry.hpp"
#include "common/runtime/textures.hpp"
#include "common/runtime/timeline.hpp"

namespace stepwise::runtime {

// An attribute of a stream: the bytes of a cudaLaunchAttributeValue.
using stream_attribute = std::array<std::byte, 64>;

struct graph_state;  // graphs/graph.hpp

struct stream_record {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::map<int, stream_attribute> attributes;  // set ones, by cudaLaunchAttributeID
};

struct event_record {
  event_handle handle{};
  unsigned flags = 0;
  bool recorded = false;
  std::uint64_t point = 0;  // of the last recording; see stream_order::mark
};

struct host_allocation {
  std::size_t bytes = 0;
  unsigned flags = 0;
  bool registered = false;         // the program's own memory, by cudaHostRegister
  bool reachable = true;           // kernels can access it
  std::uint64_t allocated_by = 0;  // see device_checks::set_origin; 0 in a plain run
  bool from_malloc = false;        // private to this process; the device is in another one
};

// Creates this process's device: an emulation of the GPU that STEPWISE_GPU names, or the device of
// the tests if they are linked.
result<std::unique_ptr<device>> make_process_device();

// Everything below is guarded by `lock`, which every API call holds.
struct state {
  std::mutex lock;
  registry registered;
  std::unique_ptr<device> current;  // created by the first call that needs it
  status unavailable;               // why there is no device
  status fault;                     // a kernel's fault, which every later call returns
  stream_record default_stream{0, 0, 1, {}};
  std::set<stream_record*> streams;
  std::set<event_record*> events;
  std::map<const void*, host_allocation> host_allocations;  // by first byte
  bool is_in_call = false;  // a function under test is running, which uses its caller's arrays
  std::map<const std::byte*, std::size_t> call_arrays;  // in host memory: bytes, by first byte
  managed_advice advice;
  pool_set pools;
  texture_set textures;
  stream_order order;
  const engine_settings settings = engine_settings::from_environment();
  // Begins asynchronous work as late as a GPU may, in a plain run.
  const bool delays_work = settings.late;
  bool has_looker = false;  // a thread runs the outstanding work in `order`
  unsigned device_flags = 0;
  unsigned long long streams_made = 0;
  std::map<int, std::size_t> limits;  // set by cudaDeviceSetLimit, except the device's own
  int cache_config = 0;
  std::shared_ptr<graph_state> graphs;  // null until the first graph or capture
  int captures = 0;                     // number of captures that have not ended
  // The stream that use_of() returns while a graph node or deferred work runs; otherwise null.
  const stream_use* lane = nullptr;
  bool used_by_runtime = false;  // not only by the driver API
  int places_left = 100;         // call stacks still to be taken in a plain run, 10 us each
  // The checks of the device in a checked run, or null.
  device_checks* checking_device() const {
    return checks && current ? current->extras().checks : nullptr;
  }
  std::unique_ptr<call_checks> checks = call_checks::from_environment();  // null in a plain run
  std::unique_ptr<call_recorder> recorder = call_recorder::from_environment();  // or null

  // The state of this process. Never destroyed, because static destructors may call the runtime.
  static state& get();

  // Creates the device if there is none, or returns why that is impossible.
  status present();
  // Does the same, but also returns a fault that lost the device.
  status ready();
  // Waits for the device, but not for kernels that were left running, and notes a fault. Every
  // kernel's failure passes through here.
  status synchronize();
  // Does the same for calls whose purpose is to wait. Also shrinks memory pools.
  status settle();
  // Notes a fault that another call returned (copies wait for kernels too).
  status note(const status& outcome);
  // Stores a fault, or its absence, and announces it.
  void lose(status to);
  // Destroys the device and everything created on it. Registered modules load again at their next
  // use. A device lost to a kernel's fault does not come back in this process, as on a GPU.
  void reset();
  // Runs the work in `order` that is ready, except the program's functions.
  void advance();
  // Starts a thread that runs all work in `order` until nothing is outstanding.
  void keep_looking();
  // Each of these functions returns at once if nothing is outstanding. Otherwise, it releases the
  // lock while it waits, so other threads may change the state.
  void wait_for_stream(const stream_use& stream);
  void wait_for_point(std::uint64_t point);
  void wait_for_all();
  // Called before asynchronous work of a stream. If such work should be delayed, holds it until the
  // host waits for it or queries it a second time, or until a noticeable time has passed.
  void delay_next(const stream_use& stream);
  // Called after a launch in a stream. Queues the kernel in `order` if it was left running.
  void note_left(const stream_use& stream);
  // Called at the program's end. Names the kernels that are still running on stderr. False if there
  // are none.
  bool name_running();
  // Frees the device memory of graphs, unless the program can still use it by an address.
  void release_graphs();
  // The host allocation that holds an address, or null.
  const std::pair<const void* const, host_allocation>* find_host(const void* address) const;
};

}  // namespace stepwise::runtime
