// Compares the time model's profile of a step with ncu's for the same call: instructions,
// occupancy, traffic and limiter.
//
// idea    Both sides use the kernel that took the most time on the GPU. ncu flushes the caches
//         before each kernel, so only bytes of single kernels can be compared.
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

// One kernel, with all its launches in one configuration.
struct figures_of_kernel {
  std::string mangled;
  // us, machine instructions of warps, fraction of a multiprocessor's warp slots, fraction of load
  // sectors that hit in L1, bytes between L1 and L2, bytes of DRAM.
  std::array<double, kernel_figures> of{};
  // Utilisations: ncu's "speed of light", or the model's busiest parts.
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

  // Modelled over hardware, minus 1; for the hit rate, the difference. nullopt if the hardware has
  // no such count.
  std::optional<double> error(kernel_figure f) const;
  // "both" agrees with "memory" and with "compute".
  bool limits_agree() const;
};

struct figure_error {
  kernel_figure figure = kernel_figure::time;
  double median = 0, worst_tenth = 0;  // absolute; the 90th percentile
};
// The errors of each figure that at least one step has.
std::vector<figure_error> figure_errors(const std::vector<compared_profile>& all);

// The output of `validate --profiles --json`. See JSON.md.
json profiles_json(const std::string& lab_name, const std::string& gpu, const std::string& source,
                   const std::vector<compared_profile>& all);

}  // namespace stepwise
