// Uses of a wgmma's sums before wgmma.wait_group has waited for it.
//
// idea    A search of the PTX finds the functions in which a path leads from a wgmma to a use of
//         its sums without a wait. Most kernels have none and pay nothing. In these functions, the
//         registers are then followed as each warp executes the code, because a correct kernel may
//         have such a path that no warp takes. Copies by mov are followed, because the compiler
//         makes and removes them.
// watch   ptxas repairs an early use with a wait of its own, and warns. An instruction with a guard
//         counts as a write, but not as a use.
// source  PTX ISA 9.0, "wgmma.mma_async": accesses to its registers before the wait are undefined.
//         Tested by ../tests/programs/*/units/wgmma_*.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/emulator/machine/program.hpp"
#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

// Whether some path leads from a product to a use of its sums without a wait for it.
bool may_use_sums_early(const ptx::body& body, const control_flow& flow);

struct early_sum {
  std::uint32_t function, product, use;  // instructions of the function's body
  bool is_committed;                     // the product belongs to a group
};

// The instructions of a program that matter for its sums.
class sum_steps {
 public:
  struct step {
    enum class kind : std::uint8_t { product, commit, wait, copy, other };
    kind what = kind::other;
    std::uint32_t ordinal = 0, function = 0, instruction = 0;
    std::uint64_t left = 0;                    // of a wait: groups that may be unfinished
    std::vector<std::uint32_t> reads, writes;  // registers that may hold sums, by number
  };

  bool empty() const { return steps_.empty(); }
  void clear() { steps_.clear(), registers_ = 0; }
  void add_function(const program& code, std::uint32_t function);
  // The steps with ordinals [first, end).
  std::pair<const step*, const step*> between(std::uint32_t first, std::uint32_t end) const;

 private:
  std::vector<step> steps_;  // by ordinal
  std::uint32_t registers_ = 0;
};

// The registers of a warp that hold the sums of unfinished products.
class open_sums {
 public:
  // The warp's `lanes` execute a step. Calls report(early_sum) if they use such a register.
  template <class Report>
  void pass(const sum_steps::step& s, std::uint32_t lanes, Report report) {
    using enum sum_steps::step::kind;
    if (s.what == commit) ++commits_;
    if (s.what == wait) finished_ = std::max(finished_, commits_ - std::min(s.left, commits_));
    sums moved;
    for (const std::uint32_t r : s.reads) {
      const sums* const open = find(r, lanes);
      if (open == nullptr) continue;
      if (s.what == copy) {
        moved = *open;
        continue;
      }
      report(use_of(*open, s));
    }
    for (const std::uint32_t r : s.writes) {
      const sums* const open = s.what == other ? find(r, lanes) : nullptr;
      if (open != nullptr && open->is_result) report(use_of(*open, s));
      sums& now = registers_[r];
      if (s.what == product)
        now = {lanes, s.instruction, commits_, true};
      else if (moved.lanes != 0)
        now = {moved.lanes & lanes, moved.product, moved.group, false};
      else
        now.lanes &= ~lanes;
    }
  }

 private:
  struct sums {
    std::uint32_t lanes = 0;
    std::uint32_t product = 0;
    std::uint64_t group = 0;
    bool is_result = false;  // the product writes this register; it is not a copy
  };

  const sums* find(std::uint32_t number, std::uint32_t lanes) const {
    const auto found = registers_.find(number);
    const bool is_open = found != registers_.end() && (found->second.lanes & lanes) != 0 &&
                         found->second.group >= finished_;
    return is_open ? &found->second : nullptr;
  }
  // Each product is reported once: its registers are forgotten.
  early_sum use_of(const sums& open, const sum_steps::step& s) {
    const early_sum found{s.function, open.product, s.instruction, open.group < commits_};
    std::erase_if(registers_, [&](const auto& r) { return r.second.product == found.product; });
    return found;
  }

  std::unordered_map<std::uint32_t, sums> registers_;  // by number
  std::uint64_t commits_ = 0, finished_ = 0;           // groups
};

}  // namespace stepwise::emulator
