// Suggests the next change to try, and the lab's step that makes it.
//
// idea    A kernel's time has one of a few causes, each with a figure for the whole call. A later
//         step of the lab that is faster and has a clearly better figure addresses that cause. No
//         list therefore has to map steps to causes.
// Tested by tests/advice_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/model/analysis.hpp"

namespace stepwise {

enum class cause : std::uint8_t {
  one_thread,      // a single thread does all the work
  partial_warps,   // blocks that do not fill their warps
  one_block,       // a single block, on one multiprocessor
  idle_blocks,     // blocks that write nothing: the grid is larger than the work
  uncoalesced,     // sectors that no lane requested
  bank_conflicts,  // wavefronts beyond the ideal
  same_address,    // repeated wavefronts or sectors of atomics at one address
  local_arrays,    // arrays in local memory
  spills,          // spilled registers in local memory
  l1_traffic,      // traffic through L1 and shared memory
  l2_traffic,
  dram_traffic,
  atomics,
  divergence,    // inactive lanes
  integer_work,  // more integer ops than arithmetic of the task
  instructions,  // the total number of ops
  arithmetic,    // the task's own arithmetic fills a pipe
  doubles,       // warps wait for the pipe of double arithmetic
  launches,      // so short that launch overhead matters
  small_grid,    // fewer blocks than the GPU holds; blocks could be smaller
  few_blocks,    // fewer blocks than the GPU holds, but already small
  short_blocks,  // they end before all others have started
  occupancy,     // too few resident warps
  barriers,
  memory_latency,  // warps wait for loads
  shared_latency,
  special_latency,            // sin, rsqrt, quotients
  shared_or_special_latency,  // both, as ncu counts them together
  dependencies,               // warps wait for arithmetic results
  products,                   // warps wait for wgmma
  bulk_copies,                // warps wait for bulk copies
  busy_pipe,                  // a unit that other warps are using
  throttle,                   // more requests than the memory path accepts
  fetch                       // branches and code that is not yet fetched
};
inline constexpr int causes = static_cast<int>(cause::fetch) + 1;
const char* name_of(cause c);  // "bank conflicts"

struct found_cause {
  cause what = cause::memory_latency;
  double gain = 1;  // speedup in the experiment that removes it; 1: none does
};

// The kernel's causes, the most important first. Never empty. Causes that an experiment removes
// come first, by gain, if they belong to the limiter or have a clear gain. The limiter's other
// causes follow, and then the other experiments.
std::vector<found_cause> causes_of(const kernel_analysis& a);

// The figure of a whole call, in the unit of unit_of(). Lower is better; 0 if the cause is absent.
double figure_of(cause c, const std::vector<kernel_profile>& call);
const char* unit_of(cause c);  // "Wasted wavefronts"; "Time ..." is in us

// Whether `after` is faster and clearly better in the figure of `c`.
bool fixes(cause c, const std::vector<kernel_profile>& before,
           const std::vector<kernel_profile>& after);

// The modelled time of all kernels of the call.
double time_us(const std::vector<kernel_profile>& call);

struct suggestion {
  const step* next = nullptr;             // the lab's step that a student would try
  std::vector<kernel_profile> next_call;  // modelled; empty if it has no time
  // The first examined step that fixes a cause, and that cause. Null if no step fixes one.
  const step* fixing = nullptr;
  cause fixed = cause::memory_latency;
  std::vector<kernel_profile> fixing_call;
};

// The steps after `at`, in order, without the steps that did not help. If `at` is a step that did
// not help, the steps after the step that it is over. For a file that is not a step (`at` null),
// the steps after the lab's skeleton for which `is_faster` holds.
std::vector<const step*> steps_after(const lab& l, const step* at,
                                     const std::function<bool(const step&)>& is_faster);

// Tries the first few of `candidates` until one of them fixes the first cause of `found`. If none
// does, tries the next cause of `found`. `model` returns a step's call, empty if it has no time.
// Returns nullopt if there is no candidate.
std::optional<suggestion> suggest(
    const std::vector<const step*>& candidates, const std::vector<found_cause>& found,
    const std::vector<kernel_profile>& before,
    const std::function<std::vector<kernel_profile>(const step&)>& model);

}  // namespace stepwise
