// The clock that a kernel reads: the progress of a warp, updated as its instructions are reported.
//
// idea    A warp issues in order, as soon as its last instruction has left the scheduler, its
//         operands are ready and its pipe is free. These are the rules of the simulation
//         (multiprocessor), which knows a launch only after the launch is over. Here they are
//         applied to one warp alone.
// watch   Other warps are ignored: a loop that is limited by issue slots, pipes or bandwidth shows
//         the cycles of a warp that has these resources to itself. Code is assumed to be fetched
//         already.
// Tested by tests/issue_clock_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/emulator/time/code_costs.hpp"
#include "common/emulator/time/costs.hpp"

namespace stepwise::emulator {

// The instructions of each straight run in the order of the machine code, cached after the first
// request.
class issue_order {
 public:
  issue_order(const code_costs& code, const gpu_costs& costs) : code_(code), costs_(costs) {}

  const std::vector<std::uint32_t>& of(std::uint32_t first, std::uint32_t end);
  const code_costs& code() const { return code_; }
  const gpu_costs& costs() const { return costs_; }

 private:
  const code_costs& code_;
  const gpu_costs& costs_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known_;
  std::uint64_t last_key_ = ~std::uint64_t{0};
  const std::vector<std::uint32_t>* last_ = nullptr;
};

class issue_clock {
 public:
  // In cycles. `begins`: the block's start.
  issue_clock(const issue_order& order, double begins);

  // An access of an instruction whose run is reported next: cycles until its result is ready, and
  // cycles for which it occupies the L1/shared-memory pipe.
  void accessed(std::uint32_t ordinal, double latency, double l1_pipe);
  void executed(issue_order& order, std::uint32_t first, std::uint32_t end);
  void wait_until(double cycle) { now_ = std::max(now_, cycle); }

  // When its next instruction can issue, regardless of its operands and pipe.
  double now() const { return now_; }

 private:
  struct access {
    std::uint32_t ordinal = 0;
    double latency = 0, l1_pipe = 0;
  };
  struct value {
    double at = 0;
    bool computed = false;  // by an instruction, not there from the start
  };
  void issue(const issue_order& order, std::uint32_t ordinal, bool ends_run);
  double needed(const code_costs& code, const gpu_costs& costs, const instruction_cost& c) const;
  double copies_done(int groups_left) const;

  double now_;
  std::vector<value> registers_;
  double unit_free_[units] = {};
  double l1_pipe_free_ = 0;
  std::vector<access> accesses_;  // of the current run
  std::vector<double> groups_;    // of copies: when they are complete
  double open_group_ = 0;
};

}  // namespace stepwise::emulator
