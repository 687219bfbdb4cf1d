// Interfaces beyond the core that every device has (device.hpp). A device
// implements some of them.
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

// Lets kernels use memory of the host's own by its address, until it is unregistered. Copies
// treat it as the host's. not_supported for an area where that cannot be.
class host_registration {
 public:
  virtual status register_host(std::span<std::byte> area) = 0;
  virtual status unregister_host(std::byte* first) = 0;

 protected:
  ~host_registration() = default;
};

// Launches that have not ended when launch() returns.
class waiting_launches {
 public:
  // From now on launch() may return before a kernel has ended that waits: for the host, or for
  // another kernel; or that has not ended for so long that it may never (patience.hpp). It has been
  // left then. The caller keeps in order what comes after it, and may make other calls meanwhile.
  // Without `may`, and on a device that checks or counts, none is left, but named on stderr if it
  // waits for long.
  virtual void leave_waiting_launches(bool may) = 0;
  // The number of the last launch if it was left, else 0; whether it still runs; and the names of
  // the kernels that do, and of those of them that have waited.
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
  // How long the last launch took, if that was modelled.
  virtual std::optional<modelled_launch> last_launch() const = 0;
  // When the next launch begins, in nanoseconds, as kernels see it. The time that they see never
  // goes back.
  virtual void set_time(std::uint64_t ns) = 0;

 protected:
  ~time_model() = default;
};

// The queue of a GPU.
class launch_queue {
 public:
  // Resets the lines of L2 that a program made persisting.
  virtual void reset_persisting_lines() = 0;
  // Work that is queued after hold_queue() begins at release_queue(), or after 20 ms. Until then
  // the caller only queues: launches, copies on the device, fills, events.
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
  // The counts since the last call, kernel by kernel and line by line; empty if nothing is counted.
  virtual std::vector<kernel_profile> take_profile() = 0;
  // The copies and fills of device memory that were counted since the last call, or since
  // reset_counters(). A judge's own, between calls, are not the program's: count_transfers() says
  // whether later ones count.
  virtual device_transfers take_transfers() = 0;
  virtual void count_transfers(bool counted) = 0;

 protected:
  ~profiling() = default;
};

// The checks of a program. Their interface also serves plain runs, whose errors name allocations.
class device_checks {
 public:
  // A number for the place in the host's code on whose behalf the next calls are made (0: unknown),
  // and the stream that they belong to (0: the legacy default stream).
  virtual void set_origin(std::uint64_t number) = 0;
  virtual void set_stream(const stream_use& use) = 0;
  // The host waited for a stream, or for all work (`stream` is no_stream), or for the work that an
  // event marked.
  virtual void host_waited(std::uint64_t stream) = 0;
  virtual void host_waited_for_event(std::uint64_t event) = 0;
  // Work of a stream that comes later waits for what `event` (any number that the caller
  // chooses) marked: recorded in one stream, waited for in another.
  virtual void mark_event(std::uint64_t event, std::uint64_t stream) = 0;
  virtual void wait_event(std::uint64_t event, std::uint64_t stream) = 0;
  // A name for an allocation, for its findings: "in".
  virtual void name_allocation(device_address address, std::string_view name) = 0;
  // These bytes count as unwritten from now on, whatever they hold.
  virtual void forget_contents(device_address first, std::uint64_t bytes) = 0;
  // The findings since the last call, in the order in which they were found; empty if the device
  // does not check. `at_exit`: memory that is still allocated is a finding too.
  virtual std::vector<finding> take_findings(bool at_exit) = 0;

 protected:
  ~device_checks() = default;
};

// Checks of the host's own accesses to memory that it shares with kernels.
class host_access_checks {
 public:
  // From now on the host may know that a stream's work up to now has ended, although no call shows
  // it: for example, because one of the program's functions ran in that stream.
  virtual void host_may_know(std::uint64_t stream) = 0;
  // Memory from allocate_shared() that was used by work which the host has not waited for. A kernel
  // may have used only a part of such an area.
  virtual std::vector<unfinished_area> unfinished_areas() = 0;
  // The verdict on a host access to one byte of such an area.
  virtual host_touch host_touches(device_address at, bool writes) = 0;
  // Reports a host access: an early one, which is a finding, with `origin` as the place in the
  // host's code; or one by which the host waits.
  virtual void host_was_early(device_address at, bool writes, std::uint64_t origin) = 0;
  virtual void host_waited_by(device_address at, bool writes) = 0;

 protected:
  ~host_access_checks() = default;
};

// A device whose addresses are known, and are no addresses of the host's.
class own_addresses {
 public:
  // The first address that its memory can have, and the number of addresses.
  virtual std::array<std::uint64_t, 2> address_range() const = 0;
  // Whether no memory of the host's can have this address, because the device's own has it. It
  // neither locks nor allocates: a signal's handler asks.
  virtual bool owns_address(device_address address) const = 0;
  // The host followed such an address: the finding, without its place; none if it is not known.
  virtual std::optional<finding> host_access(device_address address, bool writes) = 0;

 protected:
  ~own_addresses() = default;
};

// A device in another process, which knows nothing of this one's functions and memory.
class other_process {
 public:
  // Takes a finding that the runtime made by itself, as a line of JSON; false: it keeps none.
  virtual bool give_finding(const std::string& line) = 0;
  // An array of the host's that belongs to the current call, and where the caller's copy of it
  // begins; without bytes: those of the call before are gone.
  virtual void note_host_array(const std::byte* first, std::uint64_t bytes,
                               std::uint64_t place) = 0;

 protected:
  ~other_process() = default;
};

// Null where a device lacks the interface.
struct device_extras {
  host_registration* registration = nullptr;
  virtual_memory* mappings = nullptr;  // memory that is mapped apart from its addresses
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
