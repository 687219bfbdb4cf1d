// A kernel's single figures by their known names: our own, nvprof's and ncu's.
//
// idea    A name has its profiler's meaning if the model can provide that. The unit is shown with
//         the figure, because nvprof and ncu use different units.
// watch   Instructions by kind count PTX. All other figures are from machine code or modelled.
// source  See grader/GLOSSARY.md, which has more detail.
// Tested by tests/metrics_test.cpp. cli/tests/metrics_cli_test.cpp tests that the glossary's names
// are known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/model/analysis.hpp"

namespace stepwise {

struct metric {
  std::string name;   // "gld_efficiency": nvprof's, if it means the same
  std::string older;  // nvprof's, if it differs; empty: none
  std::string ncu;    // with the same meaning and unit; empty: none
  std::string unit;   // "%", "us", "bytes", "GB/s"; empty: a number
  std::string what;   // one line
  std::function<std::optional<double>(const kernel_analysis&)> of;  // nullopt: no such figure
};

// All metrics, grouped by subject.
const std::vector<metric>& all_metrics();

// A metric by any of its names. Null if there is none.
const metric* find_metric(std::string_view name);

// The reason that a profiler's metric is unavailable here, and an alternative. Empty if unknown.
std::string why_no_metric(std::string_view name);

}  // namespace stepwise
