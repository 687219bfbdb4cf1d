// The times in a lab's records for a GPU, to be shown next to other times.
// Tested by tests/model_test.cpp.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/course/lab.hpp"

namespace stepwise {

// Milliseconds of a call, cold L2.
struct recorded_times {
  std::string gpu;              // "NVIDIA H200"; empty if nothing is recorded
  std::vector<lab_size> sizes;  // ascending
  std::map<std::pair<std::string, lab_size>, double> ms;
  // Times of the fastest CPU baseline with cold caches. Empty if the CPU has no name.
  std::string cpu;  // "Intel(R) Xeon(R) Processor, 16 threads"
  std::map<lab_size, double> cpu_ms;

  std::optional<double> find(const std::string& step_name, const lab_size& size) const;
  // The fastest step at that size. Empty if no step is recorded at that size.
  std::string fastest(const lab_size& size) const;
};

// solutions/LAB/measured/GPU.jsonl. Throws failure(ours) if the file is not a record.
recorded_times load_recorded_times(const std::filesystem::path& root, const lab& l,
                                   std::string_view device_name);

// The modelled time of a step's call in ms, from solutions/LAB/measured/GPU.guided.jsonl. nullopt
// unless it was recorded for the same size and the step's present source.
std::optional<double> find_recorded_model(const std::filesystem::path& root, const lab& l,
                                          std::string_view step_name, std::string_view gpu_name,
                                          const lab_size& size);

}  // namespace stepwise
