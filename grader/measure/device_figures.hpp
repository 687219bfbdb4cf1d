// What the microbenchmarks of common/gpus/measure found on a GPU, kept beside its description.
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
  std::string what;  // how it was measured, in a line
};

struct device_record {
  std::string gpu;            // as CUDA names it
  std::string date, command;  // when and how it was made
  std::string driver;
  std::vector<device_figure> figures;

  const device_figure* find(std::string_view name) const;
};

// Runs the microbenchmarks; medians of several runs of the program. failure(environment) if it is
// not built or fails.
device_record measure_device(const device_choice& on, const installation& where);

// common/gpus/ID.measured.jsonl; none if there is no such file, failure(ours) if it is broken.
fs::path device_record_file(const fs::path& root, const std::string& id);
std::optional<device_record> load_device_record(const fs::path& root, const std::string& id);
void keep_device_record(const fs::path& root, const std::string& id, const device_record& record);
json device_record_json(const device_record& record);

}  // namespace stepwise
