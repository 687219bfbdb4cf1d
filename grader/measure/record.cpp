#include "grader/measure/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view begin_mark = "<!-- results:begin -->";
constexpr std::string_view end_mark = "<!-- results:end -->";

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

ordered_json summary_json(const sample_summary& s, const problem_work& work) {
  return {{"median_ms", rounded(s.median_ms, 1e-6)},
          {"low_ms", rounded(s.range_ms.low, 1e-6)},
          {"high_ms", rounded(s.range_ms.high, 1e-6)},
          {"samples", s.samples},
          {"gb_per_s", rounded(work.bytes / s.median_ms / 1e6, 0.1)}};
}

std::vector<fs::path> record_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    // Beside them lie records of counters: h200.counters.json.
    const fs::path file = entry.path();
    if (file.extension() == ".json" && !file.stem().has_extension()) files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string table_markdown(const lab& l, const ordered_json& record) {
  const auto& steps = record.at("steps");
  const auto& last_sizes = steps.at(0).at("sizes");
  const std::string label = last_sizes.at(last_sizes.size() - 1).at("label");
  std::string text =
      fmt::format("**{}** on an {}, {} (cold L2; {}, driver {}, `{}`)\n\n", l.title,
                  record.at("gpu").get<std::string>(), label,
                  record.at("date").get<std::string>().substr(0, 10),
                  record.at("driver").get<std::string>(), record.at("command").get<std::string>());
  text += "| step | idea | time | rate | over the step before |\n|---|---|---:|---:|---:|\n";
  std::map<std::string, double> time_of;
  for (const auto& s : l.steps) {
    const auto found = std::find_if(steps.begin(), steps.end(), [&](const ordered_json& entry) {
      return entry.at("name") == s.name;
    });
    if (found == steps.end()) {
      text += fmt::format("| {} | {} | not measured | | |\n", s.name, s.idea);
      continue;
    }
    const auto& cell = found->at("sizes").at(found->at("sizes").size() - 1).at("cold");
    const double time_ms = cell.at("median_ms");
    time_of[s.name] = time_ms;
    const auto before = time_of.find(s.over);
    text += fmt::format("| {} | {} | {} | {} | {} |\n", s.name, s.idea, time_text(time_ms),
                        rate_text(cell.at("gb_per_s")),
                        before == time_of.end() ? "" : ratio_text(before->second / time_ms));
  }
  return text;
}

}  // namespace

std::string gpu_file_name(std::string_view device_name) {
  constexpr std::string_view vendor = "NVIDIA ";
  if (device_name.starts_with(vendor)) device_name.remove_prefix(vendor.size());
  std::string name;
  for (const char c : device_name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "gpu" : name;
}

ordered_json record_of(const lab& l, const device_choice& device,
                       const std::vector<bench_row>& rows, const std::string& date,
                       const std::string& command) {
  ordered_json record = {
      {"lab", l.name},
      {"gpu", device.name},
      {"driver", device.state.driver_version},
      {"runtime", device.state.runtime_version},
      {"date", date},
      {"command", command},
      {"method",
       "device time between events, median of all samples with its 95 % interval; "
       "the steps take turns, forwards and backwards; cold: the L2 cache is "
       "overwritten before every call"},
      {"steps", ordered_json::array()}};
  for (const auto& row : rows) {
    ordered_json sizes = ordered_json::array();
    for (const auto& cell : row.cells) {
      sizes.push_back({{"size", cell.size},
                       {"label", cell.label},
                       {"bytes", cell.work.bytes},
                       {"cold", summary_json(cell.cold, cell.work)},
                       {"warm", summary_json(cell.warm, cell.work)}});
    }
    if (!sizes.empty()) record["steps"].push_back({{"name", row.name}, {"sizes", sizes}});
  }
  return record;
}

std::string results_markdown(const fs::path& root, const std::vector<lab>& labs) {
  std::string text;
  for (const auto& l : labs) {
    for (const auto& file : record_files(root / "solutions" / l.name / "measured")) {
      try {
        const auto record = ordered_json::parse(read_file(file, static_cast<int>(exit_code::ours)));
        text += (text.empty() ? "" : "\n") + table_markdown(l, record);
      } catch (const nlohmann::json::exception& error) {
        throw failure(exit_code::ours, file.string() + " is malformed: " + error.what());
      }
    }
  }
  if (text.empty()) {
    text =
        "No GPU has been measured yet: `./lab bench reduction --record` on a machine with one "
        "fills this table.\n";
  }
  return text;
}

std::string with_results(const std::string& readme, const std::string& results) {
  const auto begin = readme.find(begin_mark), end = readme.find(end_mark);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    throw failure(exit_code::ours, fmt::format("README.md needs the two lines {} and {}, in this "
                                               "order, around its results table",
                                               begin_mark, end_mark));
  }
  return readme.substr(0, begin + begin_mark.size()) + "\n" + results + readme.substr(end);
}

}  // namespace stepwise
