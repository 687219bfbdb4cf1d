// A GPU's results in the microbenchmarks of common/gpus/measure, stored next to its description.
// Tested by cli/tests/device_cli_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/judge/device_choice.hpp"

namespace stepwise {

struct device_figure {
  std::string name;  // "l2_latency"
  std::string unit;  // "cycles"
  double value = 0;
  std::string what;  // one line: how it was measured
};

struct device_record {
  std::string gpu;            // as CUDA names it
  std::string date, command;  // when and how the record was made
  std::string driver;
  std::vector<device_figure> figures;

  const device_figure* find(std::string_view name) const;
};

// Runs the microbenchmarks and returns medians of several runs. Throws failure(environment) if the
// program is not built or fails.
device_record measure_device(const device_choice& on, const installation& where);

// common/gpus/ID.measured.jsonl. nullopt if it is missing; throws failure(ours) if it is malformed.
fs::path device_record_file(const fs::path& root, const std::string& id);
std::optional<device_record> load_device_record(const fs::path& root, const std::string& id);
void keep_device_record(const fs::path& root, const std::string& id, const device_record& record);
json device_record_json(const device_record& record);

}  // namespace stepwise
