// Finds accesses outside of memory, wrong frees, and memory that is never freed.
#pragma once

#include <optional>
#include <vector>

#include "common/emulator/check/evidence.hpp"
#include "common/emulator/check/host_check.hpp"

namespace stepwise::emulator {

class bounds_check final : public check {
 public:
  bounds_check(evidence& all, host_check& host) : check(all), host_(host) {}

  void begin_launch(const launch_info& info) override;
  // Reports the accesses beyond the dynamic shared memory that the launch passes.
  status end_launch(const status& failure) override;
  void heap_gave(const warp_event& e, int lane, device_address at, std::uint64_t bytes) override;
  void heap_got(const warp_event& e, int lane, device_address at, bool is_known) override;

  // The range that a site accessed last, in which further accesses are valid.
  access_window& window(std::uint32_t site) { return windows_[site]; }
  // Returns those of `lanes_in` whose bytes are aligned and lie in one allocation or variable.
  // Reports the other lanes.
  std::uint32_t in_bounds_global(const access_event& e, std::uint32_t lanes_in);
  std::uint32_t in_bounds_shared(const access_event& e, std::uint32_t lanes_in);
  std::uint32_t in_bounds_local(const access_event& e);
  // For each store instruction that has run, the allocation that it wrote first.
  std::vector<device_address> stored() const;
  // Reports a lane's invalid access.
  void outside(const access_event& e, int lane, std::uint64_t at);

  // The host freed an address that is not an allocation.
  void refused_free(device_address at);
  void report_leaks();

 private:
  std::uint64_t local_limit() const;
  void outside_global(const access_event& e, std::uint64_t at, finding& f);
  void note_one_past_end(const finding& f, const finding_key& k);
  void explain_overflow(const access_event& e, int lane, finding& f);
  void outside_shared(const access_event& e, std::uint64_t at, finding& f);
  bool launch_could_give(const access_event& e, std::uint64_t at) const;
  void note_missing_shared(const access_event& e, int lane, std::uint64_t at);
  void leak_of_kernel(device_address at, const allocation& a);

  host_check& host_;
  std::vector<access_window> windows_;        // by site
  std::vector<access_window> first_windows_;  // by site: the first one
  // Accesses beyond the dynamic shared memory that the launch passes, reported once at its end.
  struct missing_shared {
    finding first;
    std::uint64_t bytes = 0;  // at least this many are needed
    std::uint64_t count = 0;
    std::int64_t place = 0;     // where the first access is
    bool several = false;       // there are several places
    bool fails_launch = false;  // nothing had failed before
  };
  missing_shared missing_shared_;
  // The thread of the launch's first access outside.
  struct one_past_end {
    std::optional<finding_key> first;
    extent block, thread;
    bool is_only = false;  // it made the others, too, each just past the end of an array
  };
  one_past_end one_past_end_;
};

}  // namespace stepwise::emulator
