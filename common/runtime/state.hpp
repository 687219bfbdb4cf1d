// The one state of the process: the device, what is registered, what was created, and the lock.
//
// tests   tests/memory_test.cpp, tests/launch_test.cpp, over tests/fake_device.hpp
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>

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
  std::map<int, stream_attribute> attributes;  // by cudaLaunchAttributeID, those that were set
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
  bool registered = false;         // by cudaHostRegister: the memory is the program's own
  bool reachable = true;           // by kernels
  std::uint64_t allocated_by = 0;  // see device_checks::set_origin; 0 in a plain run
  bool from_malloc = false;        // of this process alone: the device is in another one
};

// The device that this process shall use: the GPU that STEPWISE_GPU names, emulated. Where the
// tests are linked, theirs.
result<std::unique_ptr<device>> make_process_device();

// Whether asynchronous work is to begin as late as a GPU might begin it (STEPWISE_LATE=1).
bool asked_for_delays();

// Everything below is guarded by `lock`, which every API call holds.
struct state {
  std::mutex lock;
  registry registered;
  std::unique_ptr<device> current;  // made by the first call that needs it
  status unavailable;               // why there is none
  status fault;                     // what a kernel did: every later call answers it
  stream_record default_stream{0, 0, 1, {}};
  std::set<stream_record*> streams;
  std::set<event_record*> events;
  std::map<const void*, host_allocation> host_allocations;  // by first byte
  managed_advice advice;
  pool_set pools;
  texture_set textures;
  stream_order order;
  const bool delays_work = asked_for_delays();  // asynchronous work of a plain run
  bool has_looker = false;                      // a thread does the work outstanding in `order`
  unsigned device_flags = 0;
  unsigned long long streams_made = 0;
  std::map<int, std::size_t> limits;  // set by cudaDeviceSetLimit, but for the device's own
  int cache_config = 0;
  std::shared_ptr<graph_state> graphs;  // null until the program makes one, or captures
  int captures = 0;                     // that were begun and not ended
  // While a graph runs on a device that checks, or is recorded: which stream a node belongs to.
  const stream_use* lane = nullptr;
  bool used_by_runtime = false;  // not by the driver API alone
  int places_left = 100;         // of a plain run's allocations, whose places take 10 us each
  // The device of a checked run that checks, too; else null.
  device_checks* checking_device() const {
    return checks && current ? current->extras().checks : nullptr;
  }
  std::unique_ptr<call_checks> checks = call_checks::from_environment();        // null: plain run
  std::unique_ptr<call_recorder> recorder = call_recorder::from_environment();  // the same

  // The state of this process. Never destroyed: programs call from static destructors.
  static state& get();

  // Makes the device if there is none; says why there is none.
  status present();
  // The same, and says what a kernel did to it.
  status ready();
  // Waits for the device, but not for launches that were left, and notes a fault. Every kernel's
  // failure passes through here.
  status synchronize();
  // The same for the calls whose purpose is to wait: memory pools shrink then.
  status settle();
  // Notes a fault that another call met (copies wait for kernels too).
  status note(const status& outcome);
  // Keeps a fault, or that there is none, and says it.
  void lose(status to);
  // Gives up the device and what was made on it. Registered modules load again at their next use.
  // A device that a kernel's fault lost does not come back in this process: a GPU's does not.
  void reset();
  // Does what is outstanding in `order` and can be done now; without functions of the program's.
  void advance();
  // From now on a thread does what can be done of it, until nothing is outstanding.
  void keep_looking();
  // Each of these returns at once where nothing is outstanding. Else it releases the lock while it
  // waits, and other threads may change the state meanwhile.
  void wait_for_stream(const stream_use& stream);
  void wait_for_point(std::uint64_t point);
  void wait_for_all();
  // Called before asynchronous work of a stream. Where such work is to be delayed, holds it until
  // the host waits for it, queries it a second time, or long enough has passed to be noticed.
  void delay_next(const stream_use& stream);
  // After a launch in a stream: notes it if the device has left it.
  void note_left(const stream_use& stream);
  // For the program's end: names the kernels on stderr that were left and have not ended. False:
  // there are none.
  bool name_running();
  // Lets go of what graphs keep on the device, unless the program can use it by an address.
  void release_graphs();
  // The host allocation that holds an address, or null.
  const std::pair<const void* const, host_allocation>* find_host(const void* address) const;
};

// True for errors that only a kernel's execution can cause, after which a device is lost.
bool is_fault(error code);

}  // namespace stepwise::runtime
