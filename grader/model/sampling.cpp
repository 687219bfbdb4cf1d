// Figures of whole calls, and the differences between two of them.
#include "grader/model/sampling.hpp"

#include <cmath>

#include "grader/measure/statistics.hpp"
#include "grader/model/analysis.hpp"

namespace stepwise {

std::string_view name_of(call_figure f) {
  constexpr std::string_view names[call_figures] = {"time",   "instructions", "global",
                                                    "shared", "l2",           "dram"};
  return names[static_cast<int>(f)];
}

figures_of_call figures_of(const modelled_figures& m) {
  figures_of_call result;
  double ran = 0;
  const auto add = [&](call_figure f, double value) { result.of[static_cast<int>(f)] += value; };
  add(call_figure::time, m.time_ms);
  for (const kernel_profile& k : m.kernels) {
    const level_bytes bytes = bytes_of(k);
    add(call_figure::instructions, k.timing.instructions);
    add(call_figure::global_bytes, bytes.global);
    add(call_figure::shared_bytes, bytes.shared);
    add(call_figure::l2_bytes, bytes.l2);
    add(call_figure::dram_bytes, bytes.dram);
    ran += k.timing.counted * k.timing.instructions;
  }
  if (const double all = result[call_figure::instructions]; all > 0) result.counted = ran / all;
  return result;
}

std::optional<double> sampled_call::error(call_figure f) const {
  if (whole[f] <= 0) return {};
  return sampled[f] / whole[f] - 1;
}

std::vector<sampling_error> sampling_errors(const std::vector<sampled_call>& calls) {
  std::vector<sampling_error> all;
  for (int n = 0; n < call_figures; ++n) {
    sampling_error e{static_cast<call_figure>(n)};
    std::vector<double> errors;
    for (const sampled_call& call : calls) {
      const auto error = call.error(e.figure);
      if (!error) continue;
      errors.push_back(std::abs(*error));
      if (e.at != nullptr && errors.back() <= e.worst) continue;
      e.worst = errors.back();
      e.at = &call;
    }
    if (errors.empty()) continue;
    e.median = median(errors);
    all.push_back(e);
  }
  return all;
}

json sampling_json(const std::string& lab_name, const std::string& gpu,
                   const std::vector<sampled_call>& calls) {
  json document = {{"lab", lab_name},
                   {"modelled_as", gpu},
                   {"sampling", json::array()},
                   {"calls", json::array()}};
  for (const sampling_error& e : sampling_errors(calls))
    document["sampling"].push_back({{"figure", name_of(e.figure)},
                                    {"median_error", e.median},
                                    {"worst_error", e.worst},
                                    {"step", e.at->step},
                                    {"size", e.at->size}});
  for (const sampled_call& call : calls) {
    json figures = json::array();
    for (int n = 0; n < call_figures; ++n) {
      const auto f = static_cast<call_figure>(n);
      const auto error = call.error(f);
      figures.push_back({{"figure", name_of(f)},
                         {"sampled", call.sampled[f]},
                         {"whole", call.whole[f]},
                         {"error", error ? json(*error) : json(nullptr)}});
    }
    document["calls"].push_back({{"step", call.step},
                                 {"size", call.size},
                                 {"counted", call.sampled.counted},
                                 {"figures", figures}});
  }
  return document;
}

}  // namespace stepwise
