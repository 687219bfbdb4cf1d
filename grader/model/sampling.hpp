// The error of sampling: compares the figures of a call with sampled launches to those of the same
// call when every block runs.
//
// idea    A sampled launch is scaled up from the blocks that ran. Both sides use the same model, so
//         the differences come from sampling alone.
// Tested by tests/sampling_test.cpp and cli/tests/sampling_cli_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/model/modelled.hpp"

namespace stepwise {

// Figures of a whole call, from the part that ran. Bytes are estimated as in `lab profile`.
enum class call_figure { time, instructions, global_bytes, shared_bytes, l2_bytes, dram_bytes };
inline constexpr int call_figures = static_cast<int>(call_figure::dram_bytes) + 1;
std::string_view name_of(call_figure f);  // "time", "global"

struct figures_of_call {
  double of[call_figures] = {};
  double counted = 1;  // fraction of its instructions that ran

  double operator[](call_figure f) const { return of[static_cast<int>(f)]; }
};
figures_of_call figures_of(const modelled_figures& m);

struct sampled_call {
  std::string step;
  lab_size size;
  figures_of_call sampled, whole;

  // sampled / whole - 1. nullopt if the call has no such figure.
  std::optional<double> error(call_figure f) const;
};

struct sampling_error {
  call_figure figure = call_figure::time;
  double median = 0, worst = 0;      // absolute
  const sampled_call* at = nullptr;  // the worst call
};
// The errors of each figure that at least one call has.
std::vector<sampling_error> sampling_errors(const std::vector<sampled_call>& calls);

// The output of `validate --sampling --json`. See JSON.md.
json sampling_json(const std::string& lab_name, const std::string& gpu,
                   const std::vector<sampled_call>& calls);

}  // namespace stepwise
