// Finds uses of memory that asynchronous work (TMA, tensor cores) may still access, missing waits,
// and missing proxy fences.
//
// idea    In a checked run, the emulator performs such work when it is issued. The checks record
//         each access of a unit twice: at its issue, and again when its thread has waited for its
//         group. A conflicting access between the two is a race, and so is a later one that nothing
//         orders after the wait. If an mbarrier signals the end of a copy, a thread must have seen
//         the phase complete (bulk_loads.hpp). A unit accesses memory through another proxy than
//         the threads, so a fence must follow a thread's store before a unit reads the data
//         (proxy_fences.hpp).
// watch   A write to a copy's global source before the mbarrier's phase completes is not found.
// source  PTX ISA 9.0, "Async proxy", "wgmma.fence", "cp.async.bulk.wait_group", "Tensormap proxy".
//         Tested by ../tests/async_test.cpp and ../tests/programs/*/units.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/emulator/check/async/bulk_loads.hpp"
#include "common/emulator/check/async/early_sums.hpp"
#include "common/emulator/check/async/proxy_fences.hpp"
#include "common/emulator/check/async/unit_groups.hpp"
#include "common/emulator/check/evidence.hpp"
#include "common/emulator/check/races.hpp"
#include "common/emulator/machine/matrix.hpp"

namespace stepwise::emulator {

class async_check final : public check {
 public:
  async_check(evidence& all, race_check& races) : check(all), races_(races) {}

  void begin_launch(const launch_info& info) override;
  status end_launch(const status& failure) override;
  void begin_block(const block& b) override;
  void end_block(const block& b) override;
  void switch_to(const block& b) override { states_.switch_to(b); }
  void released_barrier(unsigned id, bool whole_block) override;
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                std::uint32_t lanes) override {
    if (!sum_steps_.empty()) follow_sums(warp, first, end, lanes);
  }
  void met_in_warpgroup(std::span<const warp_event> warps) override;
  void took_step(const warp_event& e, async_step step, std::int64_t value) override;
  // `owner`: the block of the cluster that has the mbarrier.
  void used_mbarrier(const warp_event& e, const mbarrier_event& m, const block& owner);

  // The source lines at which the launch's threads and copies have arrived at mbarriers at this
  // offset in shared memory, with the number of arrivals.
  std::vector<finding_party> arrivals_at(std::uint64_t barrier) const;

  // A unit's access is about to be recorded. `owner` is the block whose shared memory is accessed;
  // null for global memory.
  void unit_accesses(const lane_access& t, const block* owner);
  // A copy reads its tensor map.
  void reads_map(const lane_access& t);

  // Whether copies to the running block's memory may be unfinished.
  bool has_loads() const { return !states_.current().loads.empty(); }
  // A thread or a unit uses the running block's memory.
  void use(std::uint32_t warp, int lane, std::uint64_t first, std::uint64_t bytes,
           std::uint32_t site);
  void use(const access_event& e);

 private:
  struct issued_product {
    const op* at;
    std::uint64_t a, b;  // descriptors; a is 0 for operands in registers
    bool operator==(const issued_product&) const = default;
  };
  struct block_state {
    bulk_loads loads;
    std::unordered_map<std::uint64_t, access_maker> barrier_inits;  // by the mbarrier's offset
    // By warp, lane and unit. A warp's products are assigned to its lane 0.
    std::map<std::tuple<std::uint32_t, int, async_unit>, unit_groups> groups;
    proxy_fences fences;
    std::vector<bool> fenced_products;                      // by warp
    std::vector<open_sums> sums;                            // by warp
    std::vector<std::vector<issued_product>> products;      // by warp: since it met its warpgroup
    std::unordered_map<device_address, tick> map_acquired;  // by the map's address
  };
  // The last write of a unit. Its arrival at an mbarrier follows.
  struct last_write {
    const block* owner = nullptr;
    lane_access what{};
  };

  void note_product(const lane_access& t);
  void check_alignment(const lane_access& t, std::uint64_t descriptor);
  void add_different_products(const warp_event& one, const op* at, const warp_event& other,
                              const op* other_at);
  std::uint32_t first_warp() const;
  access_maker maker_of(const lane_access& t) const;
  static access_maker writer_of(const cell& c);
  std::uint64_t word_of(const block& owner, std::uint64_t barrier) const;
  unsigned parity_of(const block& owner, std::uint64_t barrier) const;
  void check_initialised(const warp_event& e, int lane, const block& owner, std::uint64_t barrier);
  void arrived_at(const warp_event& e, const mbarrier_event& m, const block& owner);
  void wait(unit_groups& groups, std::size_t left, bool only_reads);
  void end(const unit_access& a);
  void read_by_proxy(const lane_access& t, std::uint64_t at);
  bool is_fenced(std::uint32_t writer, tick when);
  void follow_sums(std::uint32_t warp, std::uint32_t first, std::uint32_t end, std::uint32_t lanes);
  void add_early_sum(const early_sum& e);
  void add(finding_kind kind, const access_maker& first, const access_maker* second,
           const finding_object& object, std::string message, const std::string& advice);

  race_check& races_;
  by_block<block_state> states_;
  last_write last_write_;
  struct arrivals {
    std::uint64_t count = 0;
    std::int64_t bytes = 0;  // announced or copied each time; -1: they vary
    bool by_copies = false;
  };
  std::map<std::uint64_t, std::map<const op*, arrivals>> arrivals_;  // by the mbarrier's offset
  sum_steps sum_steps_;                                 // empty: no sums may be used early
  bool has_early_sums_ = false;                         // the running kernel was reported for them
  tick maps_released_ = 0;                              // by fence.proxy.tensormap...release
  std::unordered_map<std::uint32_t, tick> last_fence_;  // of a block, by its index
};

}  // namespace stepwise::emulator
