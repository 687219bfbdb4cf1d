// What sampling costs: the figures of a call whose launches are sampled, beside those of the same
// call with every block run.
//
// idea    A sampled launch is scaled up from the blocks that ran. The model is the same on both
//         sides, so that what differs is sampling alone.
// Tested by tests/sampling_test.cpp and cli/tests/sampling_cli_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/model/modelled.hpp"

namespace stepwise {

// Of a whole call, as far as what ran shows: bytes as `lab profile` estimates them.
enum class call_figure { time, instructions, global_bytes, shared_bytes, l2_bytes, dram_bytes };
inline constexpr int call_figures = static_cast<int>(call_figure::dram_bytes) + 1;
std::string_view name_of(call_figure f);  // "time", "global"

struct figures_of_call {
  double of[call_figures] = {};
  double counted = 1;  // the share of its instructions that ran

  double operator[](call_figure f) const { return of[static_cast<int>(f)]; }
};
figures_of_call figures_of(const modelled_figures& m);

struct sampled_call {
  std::string step;
  lab_size size;
  figures_of_call sampled, whole;

  // sampled / whole - 1; nothing where the call has nothing of the kind.
  std::optional<double> error(call_figure f) const;
};

struct sampling_error {
  call_figure figure = call_figure::time;
  double median = 0, worst = 0;      // without signs
  const sampled_call* at = nullptr;  // where it is worst
};
// Of each figure that some call has.
std::vector<sampling_error> sampling_errors(const std::vector<sampled_call>& calls);

// What `validate --sampling` prints with --json: see JSON.md.
json sampling_json(const std::string& lab_name, const std::string& gpu,
                   const std::vector<sampled_call>& calls);

}  // namespace stepwise
