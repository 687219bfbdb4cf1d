// Writes times with their intervals as JSON, and reads them into a table in Markdown.
#include "grader/measure/limits_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "grader/measure/record.hpp"
#include "grader/report/text.hpp"

namespace stepwise {
namespace {

double in_nanoseconds(double ms) { return std::round(ms * 1e6) / 1e6; }

interval range_of(const json& program) { return {program.at("low_ms"), program.at("high_ms")}; }

std::string table(const lab& l, const json& record) {
  const std::string step = record.at("step"), label = record.at("label");
  std::string text = fmt::format(
      "`{}` on an {}, {} {}\n\n| part | what is left | time | of the whole |\n"
      "|---|---|---:|---:|\n",
      step, record.at("gpu").get<std::string>(), label.substr(0, label.find(", seed")),
      source_of(record));
  const auto& programs = record.at("programs");
  const double full_ms = programs.at(0).at("median_ms");
  std::vector<part_time> parts;
  for (const auto& program : programs) {
    const std::string name = program.at("part");
    const double time_ms = program.at("median_ms");
    const auto known = std::find_if(l.parts.begin(), l.parts.end(), [&](const limit_part& p) {
      return p.step == step && p.part == name;
    });
    text += fmt::format("| {} | {} | {} | {:.0f} % |\n", name,
                        known == l.parts.end() ? "the step itself" : known->what,
                        time_text(time_ms), 100 * time_ms / full_ms);
    if (name != "full") parts.push_back({name, time_ms, range_of(program)});
  }
  text += fmt::format("\nThe reading: {}", in_words(read_limits(full_ms, parts)));
  if (!is_certain(range_of(programs.at(0)), parts)) text += fmt::format("; {}", uncertain_words);
  return text + ".\n";
}

}  // namespace

json limits_record(const lab& l, const device_choice& device, const std::string& step,
                   const std::vector<bench_row>& rows, const std::string& date,
                   const std::string& command) {
  const bench_cell& first = rows.at(0).cells.at(0);
  json record = {
      {"lab", l.name},
      {"gpu", device.name},
      {"driver", device.state.driver_version},
      {"runtime", device.state.runtime_version},
      {"date", date},
      {"command", command},
      {"method",
       "device time between events, median of all samples with its 95 % interval; the step and its "
       "parts take turns, forwards and backwards; the L2 cache is overwritten before every call"},
      {"step", step},
      {"size", first.size},
      {"label", first.label},
      {"programs", json::array()}};
  for (const auto& row : rows) {
    const sample_summary& cold = row.cells.at(0).cold;
    record["programs"].push_back({{"part", row.name},
                                  {"median_ms", in_nanoseconds(cold.median_ms)},
                                  {"low_ms", in_nanoseconds(cold.range_ms.low)},
                                  {"high_ms", in_nanoseconds(cold.range_ms.high)},
                                  {"samples", cold.samples}});
  }
  return record;
}

std::string limits_markdown(const fs::path& root, const lab& l) {
  if (l.parts.empty()) return {};
  const std::string text = of_records(root, l, "limits", table);
  if (!text.empty()) return text;
  return fmt::format(
      "Nothing has been measured this way yet: `./lab limits {} --record` on a machine\nwith a GPU "
      "fills in a table.\n",
      l.name);
}

}  // namespace stepwise
