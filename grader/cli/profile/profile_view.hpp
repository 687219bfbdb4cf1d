// The subject of the guided analysis: the call of a lab's step, or all kernels of a program.
#pragma once

#include <optional>
#include <vector>

#include "grader/measure/occupancy_study.hpp"
#include "grader/model/advice.hpp"
#include "grader/model/modelled.hpp"
#include "grader/model/recorded_times.hpp"

namespace stepwise::cli {

// A call that has a time, and its analysis. The objects that it points to must outlive it.
struct profile_view {
  const lab* of = nullptr;  // null for a program outside the labs
  const modelled_figures* m = nullptr;
  const recorded_times* recorded = nullptr;  // for the emulated GPU
  const step* at = nullptr;                  // null for a file that is not a step
  std::string counted_by;                    // "ncu 2025.3.1.0"; empty if modelled
  kernel_analysis costliest;
  std::vector<found_cause> found;
  // Occupancy of the most expensive kernel. Empty if the GPU's rules are unknown.
  std::optional<occupancy_study> room;
  std::optional<suggestion> next;

  // "modelled, NVIDIA H200", "measured by ncu 2025.3.1.0, NVIDIA H200"
  std::string origin() const;
  std::optional<double> recorded_ms(const step* s) const;
};

// Treats `k`, one of the call's kernels, as the most expensive one. `m` must have a time.
profile_view view_of(const modelled_figures& m, const kernel_profile& k, const gpu& model);

}  // namespace stepwise::cli
