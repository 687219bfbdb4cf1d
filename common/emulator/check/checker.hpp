// Checks the memory accesses of a kernel and the synchronisation of its threads.
//
// idea    Reports the mistakes that compute-sanitizer's four tools find, and more, with lines and
//         threads. Each check observes the launch: bounds, initialisation, races, barriers, the
//         host's accesses, and asynchronous work. Three of the checks share a shadow memory, and
//         `checker` visits each access once for all three. A lane with a wrong access skips it, so
//         that later mistakes of the launch are found too. The launch then fails as it would on a
//         GPU.
// watch   The recorded history is bounded: see DESIGN.md.
//         Tested by tests/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/emulator/check/async/async_check.hpp"
#include "common/emulator/check/barriers.hpp"
#include "common/emulator/check/bounds.hpp"
#include "common/emulator/check/evidence.hpp"
#include "common/emulator/check/host_check.hpp"
#include "common/emulator/check/initialisation.hpp"
#include "common/emulator/check/races.hpp"
#include "common/emulator/check/unset.hpp"

namespace stepwise::emulator {

class checker final : public observer {
 public:
  // Throws std::bad_alloc if the address space for the shadow memory cannot be reserved.
  checker(const gpu& model, global_memory& memory) : evidence_(model, memory) {}

  // --- the device's memory. The calls use the current origin, see device_checks::set_origin.
  void set_origin(std::uint64_t code_address) { evidence_.origin = code_address; }
  void allocated(device_address at, std::uint64_t bytes);
  // Like allocated(), for memory that was mapped at reserved addresses.
  void mapped(device_address at, std::uint64_t bytes);
  // Managed and pinned memory, which the host writes without a call to the runtime.
  void initialised(device_address at, std::uint64_t bytes);
  // A module's variable.
  void placed(const std::string& name, device_address at, std::uint64_t bytes, bool constant);
  void name(device_address at, std::string_view name) { evidence_.areas.name(at, name); }
  void freed(device_address at) { evidence_.areas.freed(at, evidence_.origin); }
  // The host freed an address that is not an allocation.
  void refused_free(device_address at) { bounds_.refused_free(at); }
  void wrote(device_address at, std::uint64_t bytes);  // a copy from the host
  void filled(device_address at, std::uint64_t bytes);
  void forgot(device_address at, std::uint64_t bytes);  // marks them as unwritten
  void copied(device_address to, device_address from, std::uint64_t bytes);
  void copied_to_host(device_address from, std::uint64_t bytes);
  // The host's accesses to memory that it shares with kernels.
  host_check& host() { return host_; }
  // The object at or near an address, or one of kind `none`. `freed` is set if it was freed.
  finding_object object_at(device_address at, bool& freed);
  void set_heap(const access_window& heap) { evidence_.areas.set_heap(heap); }
  // Called when launches omit blocks: reading unwritten bytes is then not an error.
  void allow_unwritten_reads() { initialisation_.allow_reads(); }
  void forget_launches() { evidence_.forget_launches(); }
  order& sequence() { return evidence_.sequence; }
  void set_stream(const stream_use& use) {
    evidence_.stream = use;
    evidence_.sequence.enter_stream(use);
  }
  const stream_use& stream() const { return evidence_.stream; }

  std::vector<finding> take(bool at_exit);

  // --- observer
  void begin_launch(const launch_info& info) override;
  status end_launch(const status& failure) override;
  void begin_block(const block& b) override;
  void end_block(const block& b) override {
    async_.end_block(b);
    races_.check_exit(b);
  }
  void switch_to(const block& b) override;
  std::uint32_t access(const access_event& e) override;
  void access_range(const warp_event& e, const range_event& r) override;
  void reached_exited_block(const warp_event& e, const block& owner, const range_event& r) override;
  void took_branch(const warp_event& e, std::uint32_t to) override { barriers_.took_branch(e, to); }
  void read_unset(const warp_event& e, std::uint32_t origin) override {
    unset_.read_unset(e, origin);
  }
  void used_unset(const warp_event& e, std::uint32_t use, bool by_store) override {
    unset_.used_unset(e, use, by_store);
  }
  std::uint32_t loaded_unset(std::uint32_t warp, unsigned element) override {
    return unset_.loaded_unset(warp, element);
  }
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                std::uint32_t lanes) override {
    async_.executed(warp, first, end, lanes);
  }
  void reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) override;
  void released_barrier(unsigned id, bool whole_block) override;
  void released_cluster_barrier(std::span<block* const> blocks) override;
  void met_in_warpgroup(std::span<const warp_event> warps) override;
  void warp_met(const warp_event& e, bool orders_memory) override;
  void reached_warp_wide(const warp_event& e, std::uint32_t members) override {
    barriers_.reached_warp_wide(e, members);
  }
  void met_at_two_places(const warp_event& one, const warp_event& other,
                         std::uint32_t members) override {
    barriers_.met_at_two_places(one, other, members);
  }
  void read_inactive_lane(const warp_event& e, int lane, int source) override {
    barriers_.read_inactive_lane(e, lane, source);
  }
  void fenced(const warp_event& e, memory_order o, sync_scope s) override;
  void exited(const warp_event& e) override {
    barriers_.exited(e);
    evidence_.running().last_exit = e;
  }
  void took_step(const warp_event& e, async_step step, std::int64_t value) override {
    async_.took_step(e, step, value);
  }
  void used_mbarrier(const warp_event& e, const mbarrier_event& m) override;
  void in_deadlock(const block& b) override { barriers_.in_deadlock(b); }
  void does_not_end(const standstill& s) override {
    barriers_.does_not_end(s,
                           [this](std::uint64_t barrier) { return async_.arrivals_at(barrier); });
  }
  void heap_gave(const warp_event& e, int lane, device_address at, std::uint64_t bytes) override;
  void heap_got(const warp_event& e, int lane, device_address at, bool is_known) override {
    bounds_.heap_got(e, lane, at, is_known);
  }
  void faulted(const warp_event& e, error code, const std::string& what, int lane,
               const std::string& advice) override;

 private:
  std::uint32_t visit(const access_event& e, shadow_memory& m, std::uint64_t base);
  [[gnu::always_inline]] bool visit_run(const access_site& s, shadow_memory& m, grain g,
                                        const accessor& a, std::uint64_t at, const lane_run& run,
                                        bool falls);
  const block* owner_of(std::uint64_t at) const;
  void note_peer_access(const block& peer, const access_site& s, std::uint32_t number,
                        std::uint32_t warp, int lane, std::uint64_t at);
  std::uint32_t visit_cluster(const access_event& e);
  std::uint32_t visit_scattered(const access_event& e, shadow_memory& m, const accessor& a,
                                std::uint64_t base);
  void visit_lanes(const access_event& e, shadow_memory& m, std::uint64_t base,
                   std::uint32_t lanes_in);
  void visit_copy(const access_event& e);
  std::uint32_t visit_copied(const access_event& e);
  void describe_outside(finding& f);

  evidence evidence_;
  host_check host_{evidence_};
  bounds_check bounds_{evidence_, host_};
  initialisation_check initialisation_{evidence_};
  race_check races_{evidence_, initialisation_, host_};
  barrier_check barriers_{evidence_};
  async_check async_{evidence_, races_};
  unset_check unset_{evidence_};
  // The cp.async that executes next, and its lanes whose accesses were visited in whole rows.
  struct coming_copy {
    const op* at = nullptr;
    std::uint32_t warp = 0;
    std::uint32_t read = 0, written = 0;
    std::uint32_t read_site = no_site, write_site = no_site;
  };
  coming_copy copy_;
  // The operation on a run of bytes that is about to stop the launch.
  struct outside_range {
    const op* at = nullptr;
    std::uint32_t site = no_site;
    range_event range{};
  };
  outside_range outside_;
  // The last arrival at an mbarrier, which may be about to stop the launch.
  struct mbarrier_at {
    const op* at = nullptr;
    std::uint64_t barrier = 0;  // its offset in shared memory
  };
  mbarrier_at last_arrival_;
};

}  // namespace stepwise::emulator
