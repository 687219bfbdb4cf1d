// What to try next, and which step of the lab does it.
//
// idea    What costs a kernel time is one of a few causes, each with a figure of the whole call. A
//         later step of the lab that is faster and has a clearly better figure does something about
//         it: no list says which step fixes what.
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
  uncoalesced,     // sectors that no lane requested
  bank_conflicts,  // wavefronts beyond the ideal
  same_address,    // repeated wavefronts or sectors of atomics at one address
  local_arrays,    // arrays in local memory
  spills,          // spilled registers in local memory
  port_traffic,    // what goes through L1 and shared memory
  l2_traffic,
  dram_traffic,
  atomics,
  divergence,    // lanes that do not take part
  integer_work,  // more of it than arithmetic that the task asks for
  instructions,  // all of them
  arithmetic,    // a pipe is full of what the task asks for
  launches,      // so short that starting them counts
  small_grid,    // fewer blocks than the GPU holds; blocks could be smaller
  few_blocks,    // fewer blocks than the GPU holds, and they are already small
  short_blocks,  // they end sooner than others start
  occupancy,     // too few resident warps
  barriers,
  memory_latency,  // loads that are waited for
  shared_latency,
  special_latency,            // sin, rsqrt, quotients
  shared_or_special_latency,  // the two that ncu counts together
  dependencies,               // arithmetic that is waited for
  busy_pipe,                  // a unit that other warps use
  throttle,                   // more requests than the path to memory accepts
  fetch                       // branches and code that is not there yet
};
inline constexpr int causes = static_cast<int>(cause::fetch) + 1;
const char* name_of(cause c);  // "bank conflicts"

struct found_cause {
  cause what = cause::memory_latency;
  double gain = 1;  // times as fast, if an experiment of the model takes it away; 1: none does
};

// What holds the kernel back, what matters most first; never empty. What an experiment of the model
// takes away comes first, the largest gain first, if it belongs to the limiter or gains clearly;
// then what the limiter says; then the other experiments.
std::vector<found_cause> causes_of(const kernel_analysis& a);

// Of a whole call: lower is better, 0 where there is none of it. In the units of unit_of().
double figure_of(cause c, const std::vector<kernel_profile>& call);
const char* unit_of(cause c);  // "Wasted wavefronts"; "Time ..." is in us

// Whether `after` is faster and clearly better in what `c` is about.
bool mends(cause c, const std::vector<kernel_profile>& before,
           const std::vector<kernel_profile>& after);

// Of all kernels of the call, by the model.
double time_us(const std::vector<kernel_profile>& call);

struct suggestion {
  const step* next = nullptr;             // of the lab; where a student would look
  std::vector<kernel_profile> next_call;  // modelled; empty: it has no time
  // The first of the steps looked at that fixes a cause, and which; null: none does.
  const step* mending = nullptr;
  cause mended = cause::memory_latency;
  std::vector<kernel_profile> mending_call;
};

// The steps after `at`, in their order. For a file that is no step (`at` null) those after the
// lab's skeleton for which `is_faster` holds.
std::vector<const step*> steps_after(const lab& l, const step* at,
                                     const std::function<bool(const step&)>& is_faster);

// Looks at the first few of `candidates` until one fixes the first of `found`; if none does, the
// next of `found` counts. `model` gives a step's call, empty if it has no time. nullopt: there is
// no candidate.
std::optional<suggestion> suggest(
    const std::vector<const step*>& candidates, const std::vector<found_cause>& found,
    const std::vector<kernel_profile>& before,
    const std::function<std::vector<kernel_profile>(const step&)>& model);

}  // namespace stepwise
