// Reads a record's medians.
#include "grader/model/recorded_times.hpp"

#include <algorithm>

#include "common/formats/json.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {

std::optional<double> recorded_times::find(const std::string& step_name,
                                           const lab_size& size) const {
  const auto found = ms.find({step_name, size});
  return found == ms.end() ? std::nullopt : std::optional(found->second);
}

recorded_times load_recorded_times(const fs::path& root, const lab& l,
                                   std::string_view device_name) {
  recorded_times all;
  const fs::path file =
      fs::path("solutions") / l.name / "measured" / (gpu_file_name(device_name) + ".json");
  if (!fs::exists(root / file)) return all;
  const json record =
      json::parse_or_null(read_file(root / file, static_cast<int>(exit_code::ours)));
  if (!record.is_object() || !record.contains("steps"))
    throw failure(exit_code::ours, file.string() + " is no record of times");
  all.gpu = record.at("gpu").get<std::string>();
  for (const json& step : record.at("steps")) {
    for (const json& at : step.at("sizes")) {
      const auto size = at.at("size").get<lab_size>();
      if (!at.contains("cold") || !at.at("cold").contains("median_ms")) continue;
      all.ms[{step.at("name").get<std::string>(), size}] =
          at.at("cold").at("median_ms").get<double>();
      if (std::ranges::find(all.sizes, size) == all.sizes.end()) all.sizes.push_back(size);
    }
  }
  std::ranges::sort(all.sizes);
  return all;
}

}  // namespace stepwise
