// Writes times with their intervals as JSON, and turns them into a Markdown table.
#include "grader/measure/limits_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "grader/measure/record.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

double in_nanoseconds(double ms) { return std::round(ms * 1e6) / 1e6; }

interval range_of(const json& program) { return {program.at("low_ms"), program.at("high_ms")}; }

recorded_limits limits_of(const json& record) {
  const json& programs = record.at("entries");
  recorded_limits r{record.at("gpu"),
                    record.at("step"),
                    recorded_size(record),
                    record.at("size").get<lab_size>(),
                    programs.at(0).at("median_ms"),
                    range_of(programs.at(0)),
                    {},
                    {},
                    true};
  for (const auto& program : programs)
    if (program.at("part") != "full")
      r.parts.push_back({program.at("part"), program.at("median_ms"), range_of(program)});
  r.reading = read_limits(r.full_ms, r.parts);
  r.is_certain = is_certain(r.full_range_ms, r.parts);
  return r;
}

std::string table(const lab& l, const json& record) {
  const recorded_limits r = limits_of(record);
  std::string text = fmt::format(
      "`{}` on an {}, {} {}\n\n"
      "| part | remaining work | time | share of the whole |\n"
      "|---|---|---:|---:|\n",
      r.step, r.gpu, r.label, source_of(record));
  const auto row = [&](const std::string& name, const std::string& what, double time_ms) {
    text += fmt::format("| {} | {} | {} | {:.0f} % |\n", name, what, time_text(time_ms),
                        100 * time_ms / r.full_ms);
  };
  row("full", "the step itself", r.full_ms);
  for (const auto& part : r.parts) {
    const auto known = std::find_if(l.parts.begin(), l.parts.end(), [&](const limit_part& p) {
      return p.step == r.step && p.part == part.part;
    });
    row(part.part, known == l.parts.end() ? "the step itself" : known->what, part.time_ms);
  }
  text += fmt::format("\nConclusion: {}", in_words(r.reading));
  if (!r.is_certain) text += fmt::format("; {}", uncertain_words);
  return text + ".\n";
}

}  // namespace

json limits_record(const lab& l, const device_choice& device, const std::string& step,
                   const std::vector<bench_row>& rows, const std::string& date,
                   const std::string& command) {
  const bench_cell& first = rows.at(0).cells.at(0);
  json record = record_head(l, device, date, command);
  record["step"] = step;
  record["size"] = first.size;
  record["label"] = first.label;
  record["entries"] = json::array();
  for (const auto& row : rows) {
    const sample_summary& cold = row.cells.at(0).cold;
    record["entries"].push_back({{"part", row.name},
                                 {"median_ms", in_nanoseconds(cold.median_ms)},
                                 {"low_ms", in_nanoseconds(cold.range_ms.low)},
                                 {"high_ms", in_nanoseconds(cold.range_ms.high)},
                                 {"samples", cold.samples}});
  }
  return record;
}

std::optional<recorded_limits> load_recorded_limits(const fs::path& root, const lab& l,
                                                    std::string_view device_name) {
  const fs::path file = root / record_file(l, device_name, "limits");
  if (!fs::exists(file)) return std::nullopt;
  return read_record(file, limits_of);
}

std::string limits_markdown(const fs::path& root, const lab& l) {
  if (l.parts.empty()) return {};
  const std::string text = of_records(root, l, "limits", table);
  if (!text.empty()) return text;
  return fmt::format(
      "Nothing has been measured this way yet: `./lab dev limits {} --record` on a machine\nwith a "
      "GPU "
      "fills in a table.\n",
      l.name);
}

}  // namespace stepwise
