// Two modelled calls side by side, figure by figure.
//
// idea    Times, instructions, bytes and accesses are for the whole call, summed over its kernels.
//         Utilisation, occupancy and stalls are for the slowest kernel.
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
  std::optional<double> before, after;  // empty: nothing of this kind

  // Changed by a tenth or more, or to or from zero.
  bool is_better() const;
  bool is_worse() const;
};

struct call_comparison {
  kernel_analysis before, after;  // for the most expensive kernels
  std::vector<compared_figure> figures;
};

// Both calls have kernels, and must outlive the result.
call_comparison compare(const std::vector<kernel_profile>& before,
                        const std::vector<kernel_profile>& after, int multiprocessors);

}  // namespace stepwise
