// The time model's profile of a step beside what ncu counted of the same call: instructions,
// occupancy, traffic, and what limits.
//
// idea    Of both, the kernel that took the most time on the GPU; ncu flushes the caches before
//         each kernel, so that only bytes of single kernels can be compared.
// Tested by tests/profile_comparison_test.cpp.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/formats/json.hpp"
#include "common/report/profile.hpp"
#include "grader/course/lab.hpp"
#include "grader/model/analysis.hpp"

namespace stepwise {

enum class kernel_figure { time, instructions, occupancy, l1_hit_rate, l2_bytes, dram_bytes };
inline constexpr int kernel_figures = static_cast<int>(kernel_figure::dram_bytes) + 1;
std::string_view name_of(kernel_figure f);  // "l1_hit_rate"

// One kernel, all its launches in one configuration.
struct figures_of_kernel {
  std::string mangled;
  // us, machine instructions of warps, shares of the warps that a multiprocessor holds and of the
  // sectors that loads ask of L1, bytes between L1 and L2, bytes of DRAM.
  std::array<double, kernel_figures> of{};
  // Of ncu: its "speed of light". Of the model: its busiest parts.
  double compute = 0, memory = 0;

  double operator[](kernel_figure f) const { return of[static_cast<std::size_t>(f)]; }
  limiter limit() const;
};

figures_of_kernel figures_of(const kernel_profile& k);

json figures_json(const figures_of_kernel& k);
figures_of_kernel figures_from(const json& document);  // throws json_error

struct compared_profile {
  std::string step;
  lab_size size;
  figures_of_kernel hardware, modelled;

  // Modelled over hardware, minus 1; of the hit rate, the difference. Nothing where the hardware
  // counts nothing of the kind.
  std::optional<double> error(kernel_figure f) const;
  // "both" agrees with "memory" and with "compute".
  bool limits_agree() const;
};

struct figure_error {
  kernel_figure figure = kernel_figure::time;
  double median = 0, worst_tenth = 0;  // nine in ten are at most that; without signs
};
// Of each figure that some step has.
std::vector<figure_error> figure_errors(const std::vector<compared_profile>& all);

// What `validate --profiles` prints with --json: see JSON.md.
json profiles_json(const std::string& lab_name, const std::string& gpu, const std::string& source,
                   const std::vector<compared_profile>& all);

}  // namespace stepwise
