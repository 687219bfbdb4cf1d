// Two modelled calls side by side, figure by figure.
//
// idea    Times, instructions, bytes and accesses are those of the whole call, summed over its
//         kernels; utilisation, occupancy and stalls are those of the kernel that takes longest.
// Tested by tests/analysis_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/model/analysis.hpp"

namespace stepwise {

struct compared_figure {
  enum class kind : std::uint8_t { time_us, share, count, bytes, number };
  enum class wanted : std::uint8_t { less, more, neither };
  std::string name;  // "bank conflicts (wasted wavefronts)"
  kind what = kind::number;
  wanted better = wanted::less;
  std::optional<double> before, after;  // none: there is nothing of the kind

  // By a tenth or more, or all of it.
  bool is_better() const;
  bool is_worse() const;
};

struct call_comparison {
  kernel_analysis before, after;  // of the most expensive kernels
  std::vector<compared_figure> figures;
};

// Both calls have kernels, and outlive what is returned.
call_comparison compare(const std::vector<kernel_profile>& before,
                        const std::vector<kernel_profile>& after, int multiprocessors);

}  // namespace stepwise
