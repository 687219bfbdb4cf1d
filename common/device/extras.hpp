// Optional interfaces beyond the core that every device has (device.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/device_types.hpp"

namespace stepwise {

class virtual_memory;     // virtual_memory.hpp
struct finding;           // finding.hpp
struct kernel_profile;    // profile.hpp
struct device_transfers;  // profile.hpp

// Lets kernels access host memory through its host address until the memory is unregistered. Copies
// treat it as host memory. not_supported for an area that cannot be registered.
class host_registration {
 public:
  virtual status register_host(std::span<std::byte> area) = 0;
  virtual status unregister_host(std::byte* first) = 0;

 protected:
  ~host_registration() = default;
};

// Kernels that are left running when launch() returns.
class waiting_launches {
 public:
  // With `may`, launch() may leave a kernel running and return: a kernel that waits for the host or
  // for another kernel, or that has run so long that it may never end (patience.hpp). The caller
  // orders later work after that kernel, and may make other calls in the meantime. Without `may`,
  // or on a device that checks or counts, no kernel is left running, but long waits are reported on
  // stderr.
  virtual void leave_waiting_launches(bool may) = 0;
  // The number of the last launch if it was left running, or 0; whether a launch still runs; the
  // names of all running kernels; and the names of the running kernels that have waited.
  virtual std::uint64_t left_launch() const = 0;
  virtual bool runs(std::uint64_t launch) = 0;
  virtual std::string running_kernels() const = 0;
  virtual std::string waiting_kernels() const = 0;

 protected:
  ~waiting_launches() = default;
};

// The time of launches, on a device that models it.
class time_model {
 public:
  // The modelled time of the last launch, if there is one.
  virtual std::optional<modelled_launch> last_launch() const = 0;
  // Sets the start time of the next launch, in nanoseconds, as kernels read it. Kernels never see
  // the time go backwards.
  virtual void set_time(std::uint64_t ns) = 0;

 protected:
  ~time_model() = default;
};

// The queue of a GPU.
class launch_queue {
 public:
  // Resets L2 lines that a program made persisting to normal.
  virtual void reset_persisting_lines() = 0;
  // Work queued after hold_queue() begins at release_queue(), or after 20 ms. Until then, the
  // caller may only queue launches, copies on the device, fills and events.
  virtual void hold_queue() = 0;
  virtual void release_queue() = 0;

 protected:
  ~launch_queue() = default;
};

class execution_counting {
 public:
  virtual std::optional<execution_counters> counters() = 0;
  virtual void reset_counters() = 0;

 protected:
  ~execution_counting() = default;
};

class profiling {
 public:
  // The counts since the last call, per kernel and per line; empty if nothing is counted.
  virtual std::vector<kernel_profile> take_profile() = 0;
  // The copies and fills of device memory since the last call, or since reset_counters().
  // count_transfers() turns counting on or off, because a judge's transfers between calls are not
  // the program's.
  virtual device_transfers take_transfers() = 0;
  virtual void count_transfers(bool counted) = 0;

 protected:
  ~profiling() = default;
};

// The checks of a program. Plain runs use the interface too, because their errors name allocations.
class device_checks {
 public:
  // Set the origin of the next calls, a number for a place in the host code (0: unknown), and their
  // stream (0: the legacy default stream).
  virtual void set_origin(std::uint64_t number) = 0;
  virtual void set_stream(const stream_use& use) = 0;
  // Called when the host has waited for a stream, for all work (`stream` is no_stream), or for the
  // work before an event.
  virtual void host_waited(std::uint64_t stream) = 0;
  virtual void host_waited_for_event(std::uint64_t event) = 0;
  // Called when a stream records `event`, a number chosen by the caller, and when later work of a
  // stream waits for it.
  virtual void mark_event(std::uint64_t event, std::uint64_t stream) = 0;
  virtual void wait_event(std::uint64_t event, std::uint64_t stream) = 0;
  // Names an allocation in findings, for example "in".
  virtual void name_allocation(device_address address, std::string_view name) = 0;
  // Marks these bytes as uninitialised, whatever they hold.
  virtual void forget_contents(device_address first, std::uint64_t bytes) = 0;
  // The findings since the last call, in order; empty if the device does not check. With `at_exit`,
  // memory that is still allocated is a finding too.
  virtual std::vector<finding> take_findings(bool at_exit) = 0;

 protected:
  ~device_checks() = default;
};

// Checks of the host's own accesses to memory that it shares with kernels.
class host_access_checks {
 public:
  // Called when the host may know that a stream's work has ended although no call shows that, for
  // example because one of the program's functions ran in that stream.
  virtual void host_may_know(std::uint64_t stream) = 0;
  // Areas from allocate_shared() that are used by work which the host has not waited for. A kernel
  // may have used only a part of such an area.
  virtual std::vector<unfinished_area> unfinished_areas() = 0;
  // The verdict on a host access to one byte of such an area.
  virtual host_touch host_touches(device_address at, bool writes) = 0;
  // Report a host access: an early access by the host code at `origin`, which is a finding, or an
  // access through which the host waits.
  virtual void host_was_early(device_address at, bool writes, std::uint64_t origin) = 0;
  virtual void host_waited_by(device_address at, bool writes) = 0;

 protected:
  ~host_access_checks() = default;
};

// A device with a known address range that does not overlap host addresses.
class own_addresses {
 public:
  // The first address of the range, and its length in bytes.
  virtual std::array<std::uint64_t, 2> address_range() const = 0;
  // Whether the address belongs to the device, so host memory cannot have it. Neither locks nor
  // allocates, because signal handlers call this function.
  virtual bool owns_address(device_address address) const = 0;
  // The finding for a host access to such an address, without its source line. There is none if the
  // address is unknown.
  virtual std::optional<finding> host_access(device_address address, bool writes) = 0;

 protected:
  ~own_addresses() = default;
};

// A device in another process, which cannot use this process's functions or memory.
class other_process {
 public:
  // Takes one of the runtime's own findings, as a line of JSON. Returns false if the device keeps
  // no findings.
  virtual bool give_finding(const std::string& line) = 0;
  // Adds a host array of the current call, and the offset of the caller's copy of it. With 0 bytes,
  // drops the arrays of the previous call.
  virtual void note_host_array(const std::byte* first, std::uint64_t bytes,
                               std::uint64_t place) = 0;
  // Adds the content of a file of the current call: one that the program reads, or one that it will
  // write. Copies from and to other memory are compared with the one and appended to the other.
  virtual void note_file(std::span<const std::byte> content, std::uint64_t place,
                         bool is_result) = 0;
  // Whether the copies that follow use pageable memory of the host.
  virtual void set_pageable(bool pageable) = 0;

 protected:
  ~other_process() = default;
};

// Each pointer is null if the device lacks the interface.
struct device_extras {
  host_registration* registration = nullptr;
  virtual_memory* mappings = nullptr;  // memory mapped at reserved addresses
  waiting_launches* waiting = nullptr;
  time_model* time = nullptr;
  launch_queue* queue = nullptr;
  execution_counting* counting = nullptr;
  profiling* profile = nullptr;
  device_checks* checks = nullptr;
  host_access_checks* host_accesses = nullptr;
  own_addresses* addresses = nullptr;
  other_process* process = nullptr;
};

}  // namespace stepwise
