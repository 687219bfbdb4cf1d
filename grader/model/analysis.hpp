// Analyses a modelled profile in the order of the lectures' guided analysis: the kernel, its limit,
// and the figures of the branch that matters.
//
// idea    These are pure functions of data. They return names of parts, from which cli/text/ makes
//         sentences.
// source  The order and the 60 % rule: C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA
//         Nsight" (GTC 2016). The threshold for equal shares is an assumption.
// Tested by tests/analysis_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/report/profile.hpp"

namespace stepwise {

enum class limiter : std::uint8_t {
  memory,
  compute,
  both,    // both are busy, and about equally
  latency  // neither is busy: the GPU waits
};
const char* name_of(limiter l);  // "memory"

// If both utilisations are below this, a kernel is bound by latency.
inline constexpr double busy_enough = 0.6;
// From here on, a unit is so busy that its work alone explains the time. This is an assumption.
inline constexpr double nearly_full = 0.8;
// Shares that differ by less than this count as equal. This is an assumption.
inline constexpr double alike = 0.1;

struct utilisation {
  double compute = 0, memory = 0;                                // fractions of the time
  part compute_part = part::issue, memory_part = part::l1_pipe;  // the busiest parts
};

// The busiest part of compute and of memory.
utilisation utilisation_of(const kernel_timing& t);
limiter limiter_of(const utilisation& u);

// Kinds of accesses that may cost more than necessary.
enum class access : std::uint8_t {
  global_load,
  global_store,
  global_atomic,
  local_load,
  local_store,
  shared_load,
  shared_store,
  shared_atomic,
  shared_copy
};
inline constexpr int access_kinds = static_cast<int>(access::shared_copy) + 1;
const char* name_of(access a);  // "global load"
bool is_shared(access a);       // costs wavefronts rather than sectors
bool is_local(access a);

// The reason that an access costs more than necessary.
enum class waste_cause : std::uint8_t {
  uncoalesced,     // sectors that lanes use only in part
  bank_conflicts,  // different words in one bank
  same_address,    // lanes' atomics to one address, which serialise
  local_memory     // data that could be in registers
};
const char* name_of(waste_cause w);  // "bank conflicts"

// For a line or a kernel. Costs are sectors or wavefronts.
struct access_cost {
  access what = access::global_load;
  std::uint64_t requests = 0, cost = 0, ideal = 0;
  std::uint64_t repeated = 0;  // part of `cost`: repeated accesses to one address

  double per_request() const;
  double ideal_per_request() const;
  double excess() const;        // cost / ideal; 1 if ideal is 0
  bool is_wasteful() const;     // costs over a quarter more than the ideal
  std::uint64_t waste() const;  // cost beyond the ideal; for local memory, the whole cost
  waste_cause why() const;      // the cause of most of the waste
};

// The cost of one kind of access in these counts.
access_cost cost_of(const profile_counts& c, access what);

struct costly_line {
  code_place at;
  access_cost cost;
  double share = 0;  // of the kernel's waste in its unit (sectors or wavefronts)
};

// Traffic of all launches: the input of the modelled time, or the counters if there is no model (a
// profile by ncu).
level_traffic traffic_of(const kernel_profile& k);

// Traffic per level in bytes.
struct level_bytes {
  double global = 0;  // requested from L1, in sectors
  double shared = 0;  // wavefronts of 128 bytes
  double l2 = 0, dram = 0;
};
level_bytes bytes_of(const kernel_profile& k);

struct pipe_share {
  pipe of = pipe::integer;
  double share = 0;  // of the instructions
};

struct executed_line {
  code_place at;
  double share = 0;      // of the kernel's instructions
  double lanes = 32;     // active lanes, of 32
  double divergent = 0;  // fraction of its branches that diverge
};

struct stall_share {
  stall why = stall::memory_dependency;
  double share = 0;  // of all stalls of the kernel or line
};

struct stalled_line {
  code_place at;
  double share = 0;                 // of the kernel's stalls
  std::vector<stall_share> why;     // the longest first
  std::optional<code_place> whose;  // the line whose result it waits for most, if another
};

struct experiment_gain {
  what_if what = what_if::no_global_memory;
  double us = 0, gain = 1;  // speedup
};

struct kernel_analysis {
  const kernel_profile* kernel = nullptr;  // in the analysed profile
  double share = 0;                        // of the call's time
  utilisation busy;
  limiter limit = limiter::latency;
  level_traffic traffic;
  level_bytes bytes;
  std::vector<costly_line> accesses;    // of every line, the most wasteful first
  std::vector<costly_line> wasteful;    // the accesses to fix
  std::vector<pipe_share> mix;          // the most frequent first
  std::vector<executed_line> executed;  // the most instructions first
  double lanes = 32;                    // active lanes, of 32
  double active = 1;                    // fraction of the lanes with a thread that are active
  double divergent = 0;                 // fraction of the branches that diverge
  double local = 0;                     // fraction of the sectors in local memory
  double theoretical_occupancy = 0, achieved_occupancy = 0;  // fractions
  int multiprocessors = 1;                                   // on the GPU
  double idle_blocks = 0;              // fraction of the blocks that write nothing
  double blocks_per_place = 0;         // grid size over the blocks that can be resident on the GPU
  std::vector<stall_share> stalled;    // the longest first
  std::vector<stalled_line> lines;     // those with most stalls first
  std::vector<experiment_gain> gains;  // the largest first; empty: not requested

  double share_of(pipe p) const;  // of the instructions
  bool is_nearly_full() const;    // any unit
  double integer_share() const;
  double float_share() const;       // fp32, fp64, half, tensor
  double gain_of(what_if e) const;  // 1 if not requested
  bool is_wasteful(const costly_line& l) const;
  double stall_of(stall s) const;
};

// The kernels by time, the most expensive first. Kernels without a time come last.
std::vector<const kernel_profile*> ranked(const std::vector<kernel_profile>& kernels);

// All launches of one kernel.
struct launched_kernel {
  std::string kernel;
  std::uint64_t launches = 0;
  double us = 0;
  std::vector<const kernel_profile*> configurations;  // the most expensive first

  double average_us() const;
};

// The kernels by the total time of their launches, the most expensive first.
std::vector<launched_kernel> by_kernel(const std::vector<kernel_profile>& kernels);

// Whether the compiler recorded the source line of any of its instructions.
bool knows_lines(const kernel_profile& k);

// `call_us` is the time of all kernels. `multiprocessors` is the emulated GPU's.
kernel_analysis analyse(const kernel_profile& k, double call_us, int multiprocessors);

}  // namespace stepwise
