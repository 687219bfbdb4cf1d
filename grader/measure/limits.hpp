// Finds a kernel's limit by ablation: compares the whole kernel with its parts.
//
// idea    A part is the kernel without the rest of its work: for example, its global memory
//         accesses without the arithmetic, or the other way round. If the parts run at the same
//         time, the whole takes as long as the longest part. If the parts run one after the other,
//         the whole takes as long as their sum. Profilers show the rates in both cases, but not the
//         difference.
// source  J. Filipovic, "Optimalizace" (2014); P. Micikevicius, "Analysis-Driven Optimization"
//         (NVIDIA, GTC 2010).
// Tested by tests/limits_test.cpp, labs/tests/limits_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/profile.hpp"
#include "grader/measure/alternate.hpp"
#include "grader/measure/statistics.hpp"

namespace stepwise {

struct part_time {
  std::string part;  // "memory"
  double time_ms = 0;
  interval range_ms = {};  // 95 %
};

enum class limited_by {
  one_part,       // the other parts overlap with it
  several_parts,  // equal to each other and to the whole
  latency,        // almost no overlap: the parts wait for each other
  in_between,     // some overlap
  unknown_work,   // the whole takes longer than its parts together
  no_part         // a part takes longer than the whole, so it is not a part
};
std::string_view name_of(limited_by found);  // "one part", ...

struct limit_reading {
  limited_by found = limited_by::unknown_work;
  double full_ms = 0, sum_ms = 0, longest_ms = 0;
  // The achieved fraction of the possible overlap: (sum - full) / (sum - longest), negative if the
  // whole takes longer than the sum. For two parts, (memory + compute - full) / min(memory,
  // compute). Empty if no overlap is possible.
  std::optional<double> overlap;
  std::vector<std::string> parts;  // for one_part, several_parts and no_part
};

// Two times count as equal if they differ by less than this fraction, which exceeds the usual
// errors of parts: the few instructions that a part itself needs, clocks that rise with less work,
// an L1 cache of a different size, and the spread of the medians. Each of these errors is a few
// percent.
inline constexpr double limit_tolerance = 0.10;

// The decision rule, in this order. A part that takes longer than the whole is not a part. A whole
// that takes longer than the sum does work that no part does. A whole equal to the longest part is
// limited by that part and by the parts equal to it. A whole equal to the sum has no overlap.
// Otherwise, the whole is in between. Needs at least one part. The whole's time is positive; a
// part's may be 0.
limit_reading read_limits(double full_ms, const std::vector<part_time>& parts);

// Whether all times within the intervals of the whole and its parts give the same reading.
bool is_certain(const interval& full_ms, const std::vector<part_time>& parts);

// The meaning of the reading, and what to do about it.
std::string in_words(const limit_reading& reading);
// The text to add to a reading that is not certain.
inline constexpr const char* uncertain_words =
    "the 95 % intervals of the times allow another conclusion";
// The overlap in percent, clamped to 0 to 100 because noise may lead to values outside this range.
std::string overlap_text(const limit_reading& reading);  // "37 %", "none" for nothing to hide

// The emulator's counts for a call, summed over its kernels.
struct limit_counts {
  struct launch {
    extent grid, block;
    std::uint64_t times = 0;
    int resident_warps = 0;  // per multiprocessor
  };
  std::vector<launch> launches;     // one per kernel and configuration
  std::uint64_t warps[pipes] = {};  // instructions of warps
  std::uint64_t load_sectors = 0;   // of global memory
  std::uint64_t store_sectors = 0;  // of global memory, with atomics
  std::uint64_t local_sectors = 0;  // of local memory
  std::uint64_t shared_load_wavefronts = 0;
  std::uint64_t shared_wavefronts = 0;  // including loads, excluding copies to shared memory

  // Floating-point instructions, or integer instructions if `of_integers`.
  std::uint64_t arithmetic(bool of_integers) const;
  bool has_floats() const { return arithmetic(false) > 0; }
};
limit_counts counts_of(const std::vector<kernel_profile>& kernels);

// Reasons to doubt that `part` is a part of the whole, from their counts: one sentence per common
// mistake. Parts not named memory, shared or compute are only checked for their launch.
std::vector<std::string> doubts(const limit_counts& full, const std::string& part,
                                const limit_counts& of_part);

// Times the whole and its parts alternately, with a cold L2 cache. Only the whole's results are
// checked. The rows are in the order `full`, parts. A row that is not ok has no cell.
std::vector<bench_row> time_limits(const lab& l, const problem& p, const contender& full,
                                   const std::vector<contender>& parts, const device_choice& device,
                                   const lab_size& size, std::uint64_t seed, const activity& now);

}  // namespace stepwise
