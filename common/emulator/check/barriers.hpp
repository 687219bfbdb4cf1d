// Finds barriers and warp-wide operations that not all of their threads reach, and launches that
// never end.
//
// idea    Lanes that take a path on which they may miss a barrier are recorded until the block's
//         next barrier. When a barrier releases without some threads, the mistake is the first
//         branch that controls this barrier and diverted them from the path of a waiting thread.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/emulator/check/evidence.hpp"
#include "common/emulator/check/statements.hpp"

namespace stepwise::emulator {

class barrier_check final : public check {
 public:
  explicit barrier_check(evidence& all) : check(all) {}

  status end_launch(const status& failure) override;
  void begin_block(const block& b) override;
  void switch_to(const block& b) override { blocks_.switch_to(b); }
  void took_branch(const warp_event& e, std::uint32_t to) override;
  void reached_barrier(const warp_event& e, unsigned id, bool arrive_only, bool aligned) override;
  void released_barrier(unsigned id, bool whole_block) override;
  void reached_warp_wide(const warp_event& e, std::uint32_t members) override;
  void met_at_two_places(const warp_event& one, const warp_event& other,
                         std::uint32_t members) override;
  void read_inactive_lane(const warp_event& e, int lane, int source) override;
  void exited(const warp_event& e) override;
  void in_deadlock(const block& b) override;
  // arrivals_at(offset) returns a party for each line that has arrived at an mbarrier.
  using arrival_parties = std::function<std::vector<finding_party>(std::uint64_t)>;
  void does_not_end(const standstill& s, const arrival_parties& arrivals_at);

 private:
  // Lanes that took a path on which they may miss a barrier.
  struct taken_branch {
    const op* at;
    std::uint32_t to, lanes;
  };
  // A branch, a lane that it led away from a barrier, and the way past the barrier.
  struct divergence {
    const op* at;
    std::uint32_t warp;
    int lane;
    way_past how;
    source_line line;
  };
  struct divergence_words {
    std::string why, action, advice;
  };
  struct arrival {
    std::uint32_t warp, lanes;
    const op* at;
    bool aligned;
  };
  struct block_waits {
    std::array<std::vector<arrival>, waits_of_block> arrivals;
    std::optional<warp_event> first_exit;
    std::uint32_t exited = 0;
    bool met_apart = false;  // a barrier released threads that waited at different ones
    std::vector<std::vector<taken_branch>>
        taken_branches;  // by warp: since the last barrier, in order
    bool has_taken_branches = false;
    // The branch at which exited threads left the path to the first barrier that they missed.
    std::optional<divergence> left_at;
  };

  block_waits& state() { return blocks_.current(); }
  std::uint32_t alive(std::size_t warp) const { return evidence_.running().now->warps[warp].alive; }
  void check_arrivals(unsigned id, bool whole_block);
  void different_barriers(const arrival& one, const arrival& other, bool same_warp);
  void missed_barrier(const arrival& waits);
  void forget_taken_branches();
  bool misses(const taken_branch& t, const op* barrier);
  std::optional<divergence> divergence_of(const op* barrier, std::uint32_t waits_warp, int waits,
                                          std::uint32_t warp, std::uint32_t gone);
  divergence describe_divergence(const taken_branch& t, const op* barrier, std::uint32_t warp,
                                 int lane);
  static divergence_words words_of(const divergence& p);
  static std::string general_advice();

  by_block<block_waits> blocks_;
};

}  // namespace stepwise::emulator
