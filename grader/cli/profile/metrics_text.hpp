// The figures of kernels that were asked for by name: as a table, as CSV, as JSON.
// Tested by cli/tests/metrics_cli_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/model/metrics.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise::cli {

// A metric under the name that it was asked for by.
struct wanted_metric {
  std::string name;
  const metric* what = nullptr;
};

// failure(usage) names the nearest one where there is none, or says why it cannot be had.
std::vector<wanted_metric> wanted_metrics(const std::vector<std::string>& names);

// The kernels by time, the most expensive first.
std::vector<std::string> metric_lines(const std::vector<kernel_analysis>& kernels,
                                      const std::vector<wanted_metric>& wanted,
                                      const terminal_style& style);
// A line of names, then one for each kernel. What there is nothing of is empty.
std::vector<std::string> metric_csv(const std::vector<kernel_analysis>& kernels,
                                    const std::vector<wanted_metric>& wanted);
json metric_json(const std::vector<kernel_analysis>& kernels,
                 const std::vector<wanted_metric>& wanted);

// All that there are.
std::vector<std::string> metric_list(const terminal_style& style);
json metric_list_json();

}  // namespace stepwise::cli
