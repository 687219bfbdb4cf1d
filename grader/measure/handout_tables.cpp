// Writes sweeps as JSON, and turns sweeps and the lectures' figures into Markdown tables.
#include "grader/measure/handout_tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "common/device/gpu.hpp"
#include "grader/course/size.hpp"
#include "grader/measure/record.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

constexpr const char* kind_of_record = "sweeps";

json point_record(const std::string& name, const sweep_view& view, const sweep_point& point) {
  json j = {{"sweep", name},
            {"values", point.values},
            {"size", point.size},
            {"median_ms", point.time.median_ms},
            {"low_ms", point.time.range_ms.low},
            {"high_ms", point.time.range_ms.high},
            {"samples", point.time.samples},
            {"bytes", point.work.bytes}};
  if (const auto blocks = point.blocks()) j["blocks"] = *blocks;
  if (const auto* const kernel = point.main_kernel()) {
    j["registers"] = kernel->registers;
    j["spill_bytes"] = kernel->spill_bytes;
  }
  if (const auto percent = occupancy_percent(point)) j["occupancy_percent"] = *percent;
  if (view.counter != nullptr)
    if (const auto counted = counted_figure(view, point)) j["counted"] = counted->value;
  return j;
}

// The record's sweep of this name, with its points. Null if the record has no such sweep.
json sweep_named(const json& record, const std::string& name) {
  json sweep;
  for (const json& entry : record.at("entries")) {
    if (entry.at("sweep") != name) continue;
    if (entry.contains("axes"))
      sweep = entry;
    else
      sweep["points"].push_back(entry);
  }
  return sweep;
}

double time_of(const json& point) { return point.at("median_ms").get<double>(); }

// The shortest time among the points with the same size.
double best_time_like(const json& points, const json& point) {
  double best = std::numeric_limits<double>::max();
  for (const json& other : points)
    if (other.at("size") == point.at("size")) best = std::min(best, time_of(other));
  return best;
}

std::string time_cell(const json& points, const json& point) {
  const bool is_best = time_of(point) <= as_good * best_time_like(points, point);
  return time_text(time_of(point)) + (is_best ? " *" : "");
}

// One row per point: the values, the counters, time and rate.
std::string list_of(const json& sweep) {
  const json& points = sweep.at("points");
  const bool is_counted = std::any_of(points.begin(), points.end(),
                                      [](const json& p) { return p.contains("counted"); });
  std::string head = "|", rule = "|", text;
  for (const json& axis : sweep.at("axes")) {
    head += " " + axis.at("name").get<std::string>() + " |";
    rule += "---:|";
  }
  if (is_counted) {
    head += " " + sweep.at("counter").get<std::string>() + " |";
    rule += "---:|";
  }
  text = head + " time | rate |\n" + rule + "---:|---:|\n";
  for (const json& point : points) {
    text += "|";
    for (const json& value : point.at("values")) text += " " + value.get<std::string>() + " |";
    if (is_counted)
      text += point.contains("counted")
                  ? fmt::format(" {:.3g} |", point.at("counted").get<double>())
                  : " |";
    text += fmt::format(" {} | {} |\n", time_cell(points, point),
                        rate_text(point.at("bytes").get<double>() / time_of(point) / 1e6));
  }
  return text;
}

// Times, with the first axis as rows and the second as columns.
std::string grid_of(const json& sweep) {
  const json &down = sweep.at("axes").at(0), &across = sweep.at("axes").at(1);
  const json& points = sweep.at("points");
  std::string text = "| " + down.at("name").get<std::string>() + " |", rule = "|---:|";
  for (const json& value : across.at("values")) {
    text +=
        fmt::format(" {} = {} |", across.at("name").get<std::string>(), value.get<std::string>());
    rule += "---:|";
  }
  text += "\n" + rule + "\n";
  for (const json& row : down.at("values")) {
    text += "| " + row.get<std::string>() + " |";
    for (const json& column : across.at("values")) {
      const auto point = std::find_if(points.begin(), points.end(), [&](const json& p) {
        return p.at("values") == json::array({row, column});
      });
      text += point == points.end() ? " |" : " " + time_cell(points, *point) + " |";
    }
    text += "\n";
  }
  return text;
}

std::string sweep_table(const json& record, const std::string& name) {
  json sweep = sweep_named(record, name);
  if (sweep.is_null()) return "";
  sweep["driver"] = record.at("driver");
  return fmt::format("On an {} {}; * within 2 % of the best{}\n\n",
                     record.at("gpu").get<std::string>(), source_of(sweep),
                     sweep.at("axes").size() == 2 ? "" : " of its size") +
         (sweep.at("axes").size() == 2 ? grid_of(sweep) : list_of(sweep));
}

// "5.49 ms", "3.77 GB/s", in the lecture's format.
std::string published_text(const lecture& of, double value) {
  return fmt::format("{:g} {}", value, of.unit);
}

// The speedup over `before`, both in the lecture's unit. "" for the first version.
std::string published_gain(const lecture& of, double before, double value) {
  if (before == 0) return "";
  return ratio_text(of.unit == "ms" ? before / value : value / before);
}

std::string gpu_text(const std::string& id) {
  if (id == unnamed_gpu) return "an unnamed GPU";
  const auto model = find_gpu(id);
  return model.ok() ? "an " + model->name : "a " + id;
}

// The record's last step at the largest size at which all of the lecture's steps were measured.
// Null if there is no such size.
json entry_at_common_size(const lab& l, const json& record, const lecture& of) {
  json found;
  for (const json& cell : entries_of_last_step(l, record))
    if (std::all_of(of.figures.begin(), of.figures.end(), [&](const published_figure& f) {
          return measured_at(record, f.step, cell.at("size")) != nullptr;
        }))
      found = cell;
  return found;
}

std::string lecture_table(const lab& l, const lecture& of, const json& record) {
  const json largest = entry_at_common_size(l, record, of);
  std::string text = fmt::format(
      "{}, on {}; our unchanged steps for comparison, on an {}{} {}\n\n"
      "| version | published | over the previous | our step | time | rate | over the previous |\n"
      "|---|---:|---:|---|---:|---:|---:|\n",
      of.source, gpu_text(of.gpu), record.at("gpu").get<std::string>(),
      largest.is_null() ? "" : ", " + recorded_size(largest), source_of(record));
  double published_before = 0, measured_before = 0;
  for (const auto& f : of.figures) {
    const json* const cell =
        largest.is_null() ? nullptr : measured_at(record, f.step, largest.at("size"));
    std::string time, rate, gain;
    if (cell != nullptr) {
      const double ms = cell->at("cold").at("median_ms");
      time = time_text(ms);
      rate = recorded_rate(*cell);
      if (measured_before > 0) gain = ratio_text(measured_before / ms);
      measured_before = ms;
    }
    text += fmt::format("| {} | {} | {} | `{}` | {} | {} | {} |\n", f.version,
                        published_text(of, f.value), published_gain(of, published_before, f.value),
                        f.step, time, rate, gain);
    published_before = f.value;
  }
  return text;
}

}  // namespace

std::vector<json> sweep_entries(const std::string& name, const sweep_view& view,
                                const std::string& date, const std::string& command) {
  json axes = json::array();
  for (const auto& one : view.axes)
    axes.push_back({{"name", one.axis.name}, {"values", one.axis.values}});
  std::vector<json> entries = {
      {{"sweep", name},
       {"date", date},
       {"command", command},
       {"counter", view.counter != nullptr ? json(view.counter->name) : json(nullptr)},
       {"axes", axes}}};
  for (const auto& point : view.points)
    if (point.measured()) entries.push_back(point_record(name, view, point));
  return entries;
}

fs::path keep_sweep(const fs::path& root, const lab& l, const device_choice& device,
                    const std::vector<json>& sweep) {
  const fs::path file = record_file(l, device.name, kind_of_record);
  json entries = json::array();
  if (fs::exists(root / file)) {
    read_record(root / file, [&](const json& older) {
      for (const json& kept : older.at("entries"))
        if (kept.at("sweep") != sweep.front().at("sweep")) entries.push_back(kept);
    });
  }
  for (const json& entry : sweep) entries.push_back(entry);
  write_record(root / file, {{"lab", l.name},
                             {"gpu", device.name},
                             {"driver", device.state.driver_version},
                             {"entries", entries}});
  return file;
}

std::vector<std::string> sweeps_in(std::string_view page) {
  constexpr std::string_view begin = "<!-- sweep ", end = ":begin -->";
  std::vector<std::string> names;
  for (auto at = page.find(begin); at != std::string_view::npos; at = page.find(begin, at + 1)) {
    const auto from = at + begin.size(), to = page.find(end, from),
               line_end = page.find('\n', from);
    if (to < line_end) names.emplace_back(page.substr(from, to - from));
  }
  return names;
}

std::string sweep_markdown(const fs::path& root, const lab& l, const std::string& name) {
  const std::string text = of_records(root, l, kind_of_record, [&](const lab&, const json& record) {
    return sweep_table(record, name);
  });
  return text.empty() ? "No GPU has been measured yet: `--record " + name +
                            "` after the command records one.\n"
                      : text;
}

std::string lectures_markdown(const fs::path& root, const lab& l) {
  std::string text;
  for (const lecture& of : l.lectures) {
    const std::string table = of_records(root, l, "", [&](const lab& of_lab, const json& record) {
      return lecture_table(of_lab, of, record);
    });
    text += (text.empty() || table.empty() ? "" : "\n") + table;
  }
  return text;
}

}  // namespace stepwise
