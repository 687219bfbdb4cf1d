// Kernel metrics requested by name, as a table, as CSV and as JSON.
// Tested by cli/tests/metrics_cli_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/model/metrics.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// A metric and the name by which it was requested.
struct wanted_metric {
  std::string name;
  const metric* what = nullptr;
};

// Throws failure(usage) for an unknown name, with the nearest one, or an unavailable metric.
std::vector<wanted_metric> wanted_metrics(const std::vector<std::string>& names);

// The kernels by time, the most expensive first.
std::vector<std::string> metric_lines(const std::vector<kernel_analysis>& kernels,
                                      const std::vector<wanted_metric>& wanted,
                                      const terminal_style& style);
// A header line, then one line per kernel. Missing values are empty.
std::vector<std::string> metric_csv(const std::vector<kernel_analysis>& kernels,
                                    const std::vector<wanted_metric>& wanted);
json metric_json(const std::vector<kernel_analysis>& kernels,
                 const std::vector<wanted_metric>& wanted);

// All known metrics.
std::vector<std::string> metric_list(const terminal_style& style);
json metric_list_json();

}  // namespace stepwise::cli
