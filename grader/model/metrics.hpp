// The single figures of a kernel, by the names that people know them by: ours, nvprof's, ncu's.
//
// idea    A name means what its profiler means by it where the model can say that; units are
//         shown with the figure, since nvprof and ncu differ there.
// watch   Instructions by kind are those of the PTX; all others are the machine's or modelled.
// source  As of grader/GLOSSARY.md, which is the longer text.
// Tested by tests/metrics_test.cpp; that the glossary's names are known by
// cli/tests/metrics_cli_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/model/analysis.hpp"

namespace stepwise {

struct metric {
  std::string name;   // "gld_efficiency": nvprof's, where it has one of the same meaning
  std::string older;  // nvprof's, if it is another name; empty: none
  std::string ncu;    // of the same meaning and unit; empty: none
  std::string unit;   // "%", "us", "bytes", "GB/s"; empty: a number
  std::string what;   // in a line
  std::function<std::optional<double>(const kernel_analysis&)> of;  // none: nothing of the kind
};

// Ordered by what they are about.
const std::vector<metric>& all_metrics();

// By any of its names; null if there is none.
const metric* find_metric(std::string_view name);

// Why a profiler's metric cannot be had here, and what to ask for; empty: it is no such metric.
std::string why_no_metric(std::string_view name);

}  // namespace stepwise
