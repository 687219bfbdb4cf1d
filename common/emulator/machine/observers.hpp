// Several observers as one. Tested by common/emulator/tests/ and check/tests/, which run kernels
// that are checked and counted at once.
#pragma once

#include <vector>

#include "common/emulator/machine/observer.hpp"

namespace stepwise::emulator {

// Passes every event to the observers in the order in which they were added. If an observer
// excludes a lane from an access, later observers do not see that lane.
class observers final : public observer {
 public:
  void add(observer& o) { all_.push_back(&o); }

  void begin_launch(const launch_info& i) override;
  status end_launch(const status& failure) override;
  bool wants(std::uint64_t block) override;
  std::int64_t slice() override;
  void begin_block(const block& b) override;
  void end_block(const block& b) override;
  void switch_to(const block& b) override;
  bool interleaves_blocks() override;
  std::uint32_t access(const access_event& e) override;
  void access_range(const warp_event& e, const range_event& r) override;
  void reached_exited_block(const warp_event& e, const block& owner, const range_event& r) override;
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                std::uint32_t lanes) override;
  void diverged(const warp_event& e, std::uint32_t taken) override;
  void took_branch(const warp_event& e, std::uint32_t to) override;
  void read_unset(const warp_event& e, std::uint32_t origin) override;
  void used_unset(const warp_event& e, std::uint32_t use, bool by_store) override;
  std::uint32_t loaded_unset(std::uint32_t warp, unsigned element) override;
  void reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) override;
  void released_barrier(unsigned id, bool whole_block) override;
  void released_cluster_barrier(std::span<block* const> blocks) override;
  void met_in_warpgroup(std::span<const warp_event> warps) override;
  void warp_met(const warp_event& e, bool orders_memory) override;
  void reached_warp_wide(const warp_event& e, std::uint32_t members) override;
  void met_at_two_places(const warp_event& one, const warp_event& other,
                         std::uint32_t members) override;
  void read_inactive_lane(const warp_event& e, int lane, int source) override;
  void fenced(const warp_event& e, memory_order o, sync_scope s) override;
  void exited(const warp_event& e) override;
  void took_step(const warp_event& e, async_step step, std::int64_t value) override;
  void used_mbarrier(const warp_event& e, const mbarrier_event& m) override;
  void does_not_end(const standstill& s) override;
  void heap_gave(const warp_event& e, int lane, device_address at, std::uint64_t bytes) override;
  void heap_got(const warp_event& e, int lane, device_address at, bool is_known) override;
  bool follows(const block& b, std::uint32_t warp) override;
  void before(const context& x, const op* i) override;
  void after(const context& x, const op* i, const op* next) override;
  void in_deadlock(const block& b) override;
  void faulted(const warp_event& e, error code, const std::string& what, int lane,
               const std::string& advice) override;

 private:
  template <class... Parameters, class... Arguments>
  void each(void (observer::*event)(Parameters...), const Arguments&... arguments);

  std::vector<observer*> all_;
};

}  // namespace stepwise::emulator
