// Several observers as one.
#pragma once

#include <algorithm>
#include <vector>

#include "common/emulator/machine/observer.hpp"

namespace stepwise::emulator {

// Passes everything on, in the order in which they were added. A lane that one of them holds back
// from an access is not shown to those after it.
class observers final : public observer {
 public:
  void add(observer& o) { all_.push_back(&o); }

  void begin_launch(const launch_info& i) override { each(&observer::begin_launch, i); }
  status end_launch(const status& failure) override {
    status s = failure;
    for (observer* o : all_) s = o->end_launch(s);
    return s;
  }
  bool wants(std::uint64_t block) override {
    return std::ranges::all_of(all_, [&](observer* o) { return o->wants(block); });
  }
  std::int64_t slice() override {
    std::int64_t least = slice_instructions;
    for (observer* o : all_) least = std::min(least, o->slice());
    return least;
  }
  void begin_block(const block& b) override { each(&observer::begin_block, b); }
  void end_block(const block& b) override { each(&observer::end_block, b); }
  void turn_to(const block& b) override { each(&observer::turn_to, b); }
  std::uint32_t access(const access_event& e) override {
    std::uint32_t allowed = e.active;
    for (observer* o : all_) {
      if (allowed == e.active) {
        allowed = o->access(e);
      } else {
        access_event shown = e;
        shown.active = allowed;
        allowed = o->access(shown);
      }
    }
    return allowed;
  }
  void access_range(const warp_event& e, const range_event& r) override {
    each(&observer::access_range, e, r);
  }
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end,
                std::uint32_t lanes) override {
    each(&observer::executed, warp, first, end, lanes);
  }
  void diverged(const warp_event& e, std::uint32_t taken) override {
    each(&observer::diverged, e, taken);
  }
  void turned(const warp_event& e, std::uint32_t to) override { each(&observer::turned, e, to); }
  void reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) override {
    each(&observer::reached_barrier, e, id, arrive_only, aligned);
  }
  void released_barrier(unsigned id, bool whole_block) override {
    each(&observer::released_barrier, id, whole_block);
  }
  void warp_met(const warp_event& e, bool orders_memory) override {
    each(&observer::warp_met, e, orders_memory);
  }
  void reached_warp_wide(const warp_event& e, std::uint32_t members) override {
    each(&observer::reached_warp_wide, e, members);
  }
  void read_inactive_lane(const warp_event& e, int lane, int source) override {
    each(&observer::read_inactive_lane, e, lane, source);
  }
  void fenced(const warp_event& e, memory_order o, sync_scope s) override {
    each(&observer::fenced, e, o, s);
  }
  void exited(const warp_event& e) override { each(&observer::exited, e); }
  void committed_copies(const warp_event& e) override { each(&observer::committed_copies, e); }
  void waited_for_copies(const warp_event& e, int groups_left) override {
    each(&observer::waited_for_copies, e, groups_left);
  }
  void arrived_at(const warp_event& e, int lane, std::uint64_t shared_offset) override {
    each(&observer::arrived_at, e, lane, shared_offset);
  }
  void saw_phase(const warp_event& e, int lane, std::uint64_t shared_offset) override {
    each(&observer::saw_phase, e, lane, shared_offset);
  }
  void out_of_time(const warp_event& e) override { each(&observer::out_of_time, e); }
  void heap_gave(const warp_event& e, int lane, device_address at, std::uint64_t bytes) override {
    each(&observer::heap_gave, e, lane, at, bytes);
  }
  void heap_got(const warp_event& e, int lane, device_address at, bool is_known) override {
    each(&observer::heap_got, e, lane, at, is_known);
  }
  bool follows(const block& b, std::uint32_t warp) override {
    return std::ranges::any_of(all_, [&](observer* o) { return o->follows(b, warp); });
  }
  void before(const context& x, const op* i) override {
    for (observer* o : all_) o->before(x, i);
  }
  void after(const context& x, const op* i, const op* next) override {
    for (observer* o : all_) o->after(x, i, next);
  }
  void in_deadlock(const block& b) override { each(&observer::in_deadlock, b); }
  void faulted(const warp_event& e, error code, const std::string& what, int lane) override {
    each(&observer::faulted, e, code, what, lane);
  }

 private:
  template <class... Parameters, class... Arguments>
  void each(void (observer::*event)(Parameters...), const Arguments&... arguments) {
    for (observer* o : all_) (o->*event)(arguments...);
  }
  std::vector<observer*> all_;
};

}  // namespace stepwise::emulator
