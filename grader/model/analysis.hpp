// What a modelled profile means, in the order of the lectures' guided analysis: which kernel, what
// limits it, and the figures of the branch that matters.
//
// idea    Functions of data: no words for people but names of parts, which cli/text/ puts together.
// source  The order and the 60 % rule: C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA
//         Nsight" (GTC 2016). What counts as alike is an assumption.
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
  both,    // nearly as busy as each other, and busy
  latency  // neither is busy: the GPU waits
};
const char* name_of(limiter l);  // "memory"

// Below this in both, a kernel is bound by latency.
inline constexpr double busy_enough = 0.6;
// Shares that differ by less are alike: an assumption.
inline constexpr double alike = 0.1;

struct utilisation {
  double compute = 0, memory = 0;                             // shares of the time
  part compute_part = part::issue, memory_part = part::port;  // that are the busiest
};

// The busiest part of compute and of memory.
utilisation utilisation_of(const kernel_timing& t);
limiter limiter_of(const utilisation& u);

// Accesses of one kind at one line that cost more than they need.
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

// Why an access costs more than it needs.
enum class waste_cause : std::uint8_t {
  uncoalesced,     // sectors that lanes use only in part
  bank_conflicts,  // different words in one bank
  same_address,    // lanes of an atomic take turns at one address
  local_memory     // data that could be in registers
};
const char* name_of(waste_cause w);  // "bank conflicts"

// Of a line or of a kernel; costs are sectors or wavefronts.
struct access_cost {
  access what = access::global_load;
  std::uint64_t requests = 0, cost = 0, ideal = 0;
  std::uint64_t repeated = 0;  // part of `cost`: repeated accesses to one address

  double per_request() const;
  double ideal_per_request() const;
  double excess() const;        // cost / ideal; 1 where there is none
  bool is_wasteful() const;     // costs over a quarter more than the ideal
  std::uint64_t waste() const;  // cost beyond the ideal; for local memory, the whole cost
  waste_cause why() const;      // the cause of most of the waste
};

// Of one kind of access in these counts.
access_cost cost_of(const profile_counts& c, access what);

struct costly_line {
  code_place at;
  access_cost cost;
  double share = 0;  // of all waste of its unit (sectors or wavefronts) in the kernel
};

// Of all launches: what the modelled time was made from, or what was counted where there is no such
// account (a profile by ncu).
level_traffic traffic_of(const kernel_profile& k);

// The same in bytes.
struct level_bytes {
  double global = 0;  // asked of L1, in sectors
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
  double lanes = 32;     // that take part, of 32
  double divergent = 0;  // share of its branches that divide their warp
};

struct stall_share {
  stall why = stall::memory_dependency;
  double share = 0;  // of all stalls of the kernel or line
};

struct stalled_line {
  code_place at;
  double share = 0;                 // of the kernel's stalls
  std::vector<stall_share> why;     // the longest first
  std::optional<code_place> whose;  // result it waits for most, if that is another line
};

struct experiment_gain {
  what_if what = what_if::no_global_memory;
  double us = 0, gain = 1;  // times as fast
};

struct kernel_analysis {
  const kernel_profile* kernel = nullptr;  // of the profile that was analysed
  double share = 0;                        // of the call's time
  utilisation busy;
  limiter limit = limiter::latency;
  level_traffic traffic;
  level_bytes bytes;
  std::vector<costly_line> accesses;    // of every line, what wastes most first
  std::vector<costly_line> wasteful;    // of these, those to fix
  std::vector<pipe_share> mix;          // the most frequent first
  std::vector<executed_line> executed;  // the most instructions first
  double lanes = 32;                    // that take part, of 32
  double active = 1;                    // fraction of the lanes with a thread that take part
  double divergent = 0;                 // share of the branches that divide their warp
  double local = 0;                     // fraction of the sectors that are in local memory
  double theoretical_occupancy = 0, achieved_occupancy = 0;  // shares
  int multiprocessors = 1;                                   // on the GPU
  double blocks_per_place = 0;         // of the grid, for each that can be resident on the GPU
  std::vector<stall_share> stalled;    // the longest first
  std::vector<stalled_line> lines;     // those with most stalls first
  std::vector<experiment_gain> gains;  // the largest first; empty: not requested

  double integer_share() const;
  double float_share() const;       // fp32, fp64, half, tensor
  double gain_of(what_if e) const;  // 1 if not requested
  bool is_wasteful(const costly_line& l) const;
  double stall_of(stall s) const;
};

// The kernels by time, the most expensive first. Those without a time come last.
std::vector<const kernel_profile*> ranked(const std::vector<kernel_profile>& kernels);

// All launches of one kernel.
struct launched_kernel {
  std::string kernel;
  std::uint64_t launches = 0;
  double us = 0;
  std::vector<const kernel_profile*> configurations;  // the most expensive first

  double average_us() const;
};

// The same kernels by what all launches of each take together, the most expensive first.
std::vector<launched_kernel> by_kernel(const std::vector<kernel_profile>& kernels);

// Whether the compiler recorded the lines of any of its instructions.
bool knows_lines(const kernel_profile& k);

// `call_us`: of all kernels. `multiprocessors` of the emulated GPU.
kernel_analysis analyse(const kernel_profile& k, double call_us, int multiprocessors);

}  // namespace stepwise
