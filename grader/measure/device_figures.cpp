// Runs build/common/gpus/measure/device-measure, and reads and writes its results.
#include "grader/measure/device_figures.hpp"

#include <algorithm>

#include "grader/measure/records/record_file.hpp"
#include "grader/system/process.hpp"

namespace stepwise {
namespace {

constexpr int runs = 5;
constexpr double limit_s = 300;

std::vector<device_figure> figures_of(const json& list) {
  std::vector<device_figure> figures;
  for (const auto& f : list)
    figures.push_back({f.at("name"), f.at("unit"), f.at("value"), f.at("what")});
  return figures;
}

json run_once(const fs::path& program, const device_choice& on) {
  child_options options;
  options.command = {program.string()};
  options.environment = on.environment();
  options.keep_bytes = 1 << 20;
  const child_result result = run_child(options, limit_s);
  const json document = parse_json_or_null(result.out);
  if (!document.is_object())
    throw failure(exit_code::environment, "the microbenchmarks failed: " + result.err);
  return document;
}

}  // namespace

const device_figure* device_record::find(std::string_view name) const {
  for (const auto& f : figures)
    if (f.name == name) return &f;
  return nullptr;
}

device_record measure_device(const device_choice& on, const installation& where) {
  const fs::path program = where.build / "common/gpus/measure/device-measure";
  if (!fs::exists(program))
    throw failure(exit_code::environment,
                  "the microbenchmarks are not built: `ninja -C build "
                  "common/gpus/measure/device-measure` builds them");
  device_record record;
  std::vector<std::vector<device_figure>> found;
  for (int i = 0; i < runs; ++i) {
    const json document = run_once(program, on);
    record.gpu = document.at("gpu").get<std::string>();
    found.push_back(figures_of(document.at("figures")));
  }
  record.driver = on.state.driver_version;
  record.figures = found.front();
  for (std::size_t f = 0; f < record.figures.size(); ++f) {
    std::vector<double> values;
    for (const auto& one : found) values.push_back(one.at(f).value);
    std::nth_element(values.begin(), values.begin() + runs / 2, values.end());
    record.figures[f].value = values[runs / 2];
  }
  return record;
}

fs::path device_record_file(const fs::path& root, const std::string& id) {
  return root / "common" / "gpus" / (id + ".measured.jsonl");
}

std::optional<device_record> load_device_record(const fs::path& root, const std::string& id) {
  const fs::path file = device_record_file(root, id);
  if (!fs::exists(file)) return {};
  return read_record(file, [](const json& record) {
    return device_record{record.at("gpu"), record.at("date"), record.at("command"),
                         record.at("driver"), figures_of(record.at("entries"))};
  });
}

void keep_device_record(const fs::path& root, const std::string& id, const device_record& record) {
  json kept = device_record_json(record);
  kept["entries"] = kept.at("figures");
  kept.erase("figures");
  write_record(device_record_file(root, id), kept);
}

json device_record_json(const device_record& record) {
  json figures = json::array();
  for (const auto& f : record.figures)
    figures.push_back({{"name", f.name}, {"unit", f.unit}, {"value", f.value}, {"what", f.what}});
  return {{"gpu", record.gpu},
          {"driver", record.driver},
          {"date", record.date},
          {"command", record.command},
          {"figures", std::move(figures)}};
}

}  // namespace stepwise
