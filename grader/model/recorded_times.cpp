// Reads a record's medians, and the modelled time of a step.
#include "grader/model/recorded_times.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/course/source.hpp"
#include "grader/judge/key.hpp"
#include "grader/measure/records/record_file.hpp"

namespace stepwise {
namespace {

recorded_times times_of(const json& record) {
  recorded_times all;
  all.gpu = record.at("gpu").get<std::string>();
  if (record.contains("cpu"))
    all.cpu = fmt::format("{}, {} threads", record.at("cpu").at("name").get<std::string>(),
                          record.at("cpu").at("threads").get<int>());
  for (const json& entry : record.at("entries")) {
    if (!entry.contains("cold") || entry.contains("duel")) continue;
    const auto size = entry.at("size").get<lab_size>();
    const double time_ms = entry.at("cold").at("median_ms");
    if (entry.contains("step")) {
      all.ms[{entry.at("step").get<std::string>(), size}] = time_ms;
      if (std::ranges::find(all.sizes, size) == all.sizes.end()) all.sizes.push_back(size);
    } else if (entry.at("on") == "cpu") {
      const auto found = all.cpu_ms.try_emplace(size, time_ms).first;
      found->second = std::min(found->second, time_ms);
    }
  }
  std::ranges::sort(all.sizes);
  return all;
}

// Adds the files of solutions/ that `file` includes, in order, each of them once.
// slides/site/builder does the same, for the same digest.
void add_parts(const fs::path& root, const std::string& text, std::vector<std::string>& parts) {
  constexpr std::string_view includes = "#include \"";
  for (const std::string& line : split_lines(text)) {
    if (!line.starts_with(includes)) continue;
    const std::string name =
        line.substr(includes.size(), line.find('"', includes.size()) - includes.size());
    if (!name.starts_with("solutions/") || std::ranges::find(parts, name) != parts.end()) continue;
    const auto part = read_if_there(root / name);
    if (!part) continue;
    parts.push_back(name);
    add_parts(root, *part, parts);
  }
}

std::string digest_of_step(const fs::path& root, const fs::path& file) {
  std::string all = read_if_there(root / file).value_or("");
  std::vector<std::string> parts;
  add_parts(root, all, parts);
  for (const auto& part : parts) all += read_if_there(root / part).value_or("");
  return hex_of(sha256(all)).substr(0, 16);
}

}  // namespace

std::optional<double> recorded_times::find(const std::string& step_name,
                                           const lab_size& size) const {
  const auto found = ms.find({step_name, size});
  return found == ms.end() ? std::nullopt : std::optional(found->second);
}

std::string recorded_times::fastest(const lab_size& size) const {
  std::string best;
  double least = 0;
  for (const auto& [key, time_ms] : ms) {
    if (key.second != size || (!best.empty() && time_ms >= least)) continue;
    best = key.first;
    least = time_ms;
  }
  return best;
}

recorded_times load_recorded_times(const fs::path& root, const lab& l,
                                   std::string_view device_name) {
  const fs::path file = root / record_file(l, device_name);
  return fs::exists(file) ? read_record(file, times_of) : recorded_times{};
}

std::optional<double> find_recorded_model(const fs::path& root, const lab& l,
                                          std::string_view step_name, std::string_view gpu_name,
                                          const lab_size& size) {
  const auto text = read_if_there(root / record_file(l, gpu_name, "guided"));
  const auto at = std::ranges::find(l.steps, step_name, &step::name);
  if (!text || at == l.steps.end()) return {};
  try {
    const json record = parse_json_lines(*text);
    if (record.at("gpu") != gpu_name) return {};
    for (const json& of : record.at("entries")) {
      if (of.at("step") != step_name || of.at("size").get<lab_size>() != size) continue;
      if (of.at("source") != digest_of_step(root, at->file)) return {};
      return of.at("ms").get<double>();
    }
  } catch (const json_error&) {  // the site reports it
  }
  return {};
}

}  // namespace stepwise
