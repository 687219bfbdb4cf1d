// What limits a kernel, found by leaving work out of it: the whole beside its parts.
//
// idea    A part is the kernel with the rest of its work left out: its accesses to global memory
//         without the arithmetic, or the other way round. If the parts ran at the same time, the
//         whole takes as long as the longest of them; if one after the other, as long as all
//         together. Profilers see the rates of both cases, and not the difference.
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
  one_part,       // the others are hidden behind it
  several_parts,  // that take as long as each other, and as the whole
  latency,        // hardly anything is hidden: the parts wait for each other
  in_between,     // some of it is hidden
  unknown_work,   // the whole takes longer than its parts together
  no_part         // a part takes longer than the whole: it is none
};
std::string_view name_of(limited_by found);  // "one part", ...

struct limit_reading {
  limited_by found = limited_by::unknown_work;
  double full_ms = 0, sum_ms = 0, longest_ms = 0;
  // The share hidden of what could be: (sum - full) / (sum - longest), below 0 if the whole takes
  // longer than the sum. For two parts, (memory + compute - full) / min(memory, compute). None if
  // there is nothing to hide.
  std::optional<double> overlap;
  std::vector<std::string> parts;  // those meant by one_part, several_parts, no_part
};

// Two times are called equal if they differ by less than this. It is more than what parts never
// hold still: the few instructions that a part needs for itself, clocks that rise when less is
// done, an L1 cache of another size, the medians' own spread. Each of them is some per cent.
inline constexpr double limit_tolerance = 0.10;

// The decision rule, in this order: a part that takes longer than the whole is no part of it; a
// whole that takes longer than the sum does something that no part does; a whole equal to the
// longest part is limited by it, and by those equal to it; a whole equal to the sum hides nothing;
// else it lies in between. At least one part; all times are positive but for parts', which may be
// 0.
limit_reading read_limits(double full_ms, const std::vector<part_time>& parts);

// Whether all times within the intervals of the whole and of its parts have the same reading.
bool is_certain(const interval& full_ms, const std::vector<part_time>& parts);

// What that means, and what to do about it.
std::string in_words(const limit_reading& reading);
// What to add to the text of a reading that is not certain.
inline constexpr const char* uncertain_words =
    "within the 95 % intervals of the times another reading is possible";
// The share hidden in per cent, for people: what noise puts below 0 or above 100 is left out.
std::string overlap_text(const limit_reading& reading);  // "37 %", "none" for nothing to hide

// What the emulator counted of a call, summed over its kernels.
struct limit_counts {
  struct launch {
    extent grid, block;
    std::uint64_t times = 0;
    int resident_warps = 0;  // of a multiprocessor
  };
  std::vector<launch> launches;     // one for each kernel and configuration
  std::uint64_t warps[pipes] = {};  // instructions of warps
  std::uint64_t load_sectors = 0;   // of global memory
  std::uint64_t store_sectors = 0;  // of global memory, with atomics
  std::uint64_t local_sectors = 0;  // of local memory
  std::uint64_t shared_load_wavefronts = 0;
  std::uint64_t shared_wavefronts = 0;  // with those of loads

  // Instructions of floating-point units; where there is none at all, of the integer unit.
  std::uint64_t arithmetic(bool of_integers) const;
  bool has_floats() const { return arithmetic(false) > 0; }
};
limit_counts counts_of(const std::vector<kernel_profile>& kernels);

// What speaks against calling `part` a part of the whole, by their counts: one sentence for each
// mistake that is easily made. Names other than memory, shared and compute are only held against
// the launch.
std::vector<std::string> doubts(const limit_counts& full, const std::string& part,
                                const limit_counts& of_part);

// Times the whole and its parts in turns, with a cold L2 cache. The whole's results are checked,
// those of parts are not. The rows are in the order of `full`, parts; a row that is not ok has no
// cell.
std::vector<bench_row> time_limits(const lab& l, const problem& p, const contender& full,
                                   const std::vector<contender>& parts, const device_choice& device,
                                   const lab_size& size, std::uint64_t seed, const activity& now);

}  // namespace stepwise
