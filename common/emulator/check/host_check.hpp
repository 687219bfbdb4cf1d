// Finds host accesses to memory that kernels and copies use, before the host has waited for them.
//
// idea    Copies and fills are recorded exactly. For a kernel, a whole allocation is recorded, and
//         the cells show which parts the kernel accessed. The checks cannot see which memory the
//         host polls, so stores through which the host may learn of a stream's progress count as a
//         wait.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/emulator/check/evidence.hpp"

namespace stepwise::emulator {

class host_check final : public check {
 public:
  explicit host_check(evidence& all) : check(all) {}

  void begin_launch(const launch_info& info) override;
  // Notes what the host may have learned from the launch's stores.
  status end_launch(const status& failure) override;
  void fenced(const warp_event& e, memory_order o, sync_scope s) override;
  bool fences_system() const { return fences_system_; }

  // Some memory is shared with the host.
  void memory_is_shared() { shares_memory_ = true; }
  // A kernel uses an allocation; a copy or fill of the current stream uses these bytes.
  void kernel_uses(const access_window& area, bool writes);
  void copy_uses(device_address at, std::uint64_t bytes, bool writes);
  // The last use was by a fill.
  void last_use_is_fill();
  // Called when an access left the window of its site, and the window became the allocation around
  // `at`. If the access is a store that the host may read, shrinks the window to its address as
  // long as the site has stored to no other, so that a store to another address is noted, too.
  void note_host_memory(const access_event& e, device_address at, access_window& window);
  // A copy or fill of the current stream has written bytes that the host can read at once.
  void note_copy_to_host(std::uint64_t bytes);
  // Pinned, managed and registered memory.
  bool host_reads(device_address at) const;

  // The memory shared with the host that is used by work which the host has not waited for.
  std::vector<unfinished_area> unfinished_areas();
  host_touch host_touches(device_address at, bool writes) const;
  void host_was_early(device_address at, bool writes, std::uint64_t origin);
  void host_waited_by(device_address at, bool writes);

 private:
  // The stores of a launch to memory that the host can read while the launch runs. Through them,
  // the host may learn that this launch, or the work before it, has ended.
  struct host_flags {
    struct lone_store {
      device_address at;    // the only address to which the site stores; 0: there are several
      device_address base;  // the allocation's base
    };
    std::map<std::uint32_t, lone_store> lone;  // by site
    std::set<device_address> loaded;           // allocations that the launch loads from
    bool strong = false;                       // there was a strong store
    bool fenced = false;                       // a thread executed a fence wider than its block
  };
  struct shared_use {
    std::uint32_t work;
    device_address first;
    std::uint64_t bytes;
    bool written;
    bool is_fill = false;
  };
  // An access that is unordered with a host access: a kernel's (recorded in a cell), or a copy's.
  struct unfinished_access {
    std::uint32_t work;
    bool writes;
    bool is_fill = false;
    const past_launch* launch = nullptr;  // null: a copy or fill
    std::uint32_t warp = 0;
    int lane = 0;
    std::uint32_t site = no_site;
    const access_site* details() const {
      return launch != nullptr && site < launch->code->accesses.size()
                 ? &launch->code->accesses[site]
                 : nullptr;
    }
    bool is_flag() const;
  };
  void forget_finished_uses();
  std::optional<unfinished_access> access_unordered_with_host(device_address at, bool writes) const;
  std::optional<unfinished_access> kernel_unordered_with_host(device_address at, bool writes) const;

  host_flags flags_;
  bool fences_system_ = false;
  bool shares_memory_ = false;
  // By base and stream.
  std::map<std::pair<device_address, std::uint64_t>, shared_use> kernel_uses_;
  std::deque<shared_use> copy_uses_;
};

}  // namespace stepwise::emulator
