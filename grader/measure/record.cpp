// Makes the JSON of steps, baselines and duels, and the tables of the handouts and of all results.
#include "grader/measure/record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "common/cpu/cpu.hpp"
#include "grader/measure/figures.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

json summary_json(const sample_summary& s) {
  return {{"median_ms", rounded(s.median_ms, 1e-6)},
          {"low_ms", rounded(s.range_ms.low, 1e-6)},
          {"high_ms", rounded(s.range_ms.high, 1e-6)},
          {"samples", s.samples}};
}

json energy_json(const energy_use& e) {
  return {{"joules_per_call", rounded(e.joules_per_call, 1e-9)},
          {"average_watts", rounded(e.average_watts, 0.1)},
          {"calls", e.calls}};
}

// The date, driver and command of a record.
std::string origin_of(const json& record) {
  return fmt::format("{}, driver {}, `{}`", record.at("date").get<std::string>().substr(0, 10),
                     record.at("driver").get<std::string>(),
                     record.at("command").get<std::string>());
}

// "1.23 mJ, 456 W"; empty if it was not measured.
std::string energy_at(const json& cell) {
  const auto energy = cell.find("energy");
  if (energy == cell.end()) return "";
  return fmt::format("{}, {:.0f} W", energy_text(energy->at("joules_per_call")),
                     energy->at("average_watts").get<double>());
}

json side_json(const duel::side& s) {
  return {{"ratio", rounded(s.ratio, 1e-4)},
          {"low", rounded(s.range.low, 1e-4)},
          {"high", rounded(s.range.high, 1e-4)}};
}

json cell_json(const bench_cell& cell) {
  json at = {{"size", cell.size}, {"label", cell.label}, {"bytes", cell.work.bytes}};
  if (!cell.work.rated_unit.empty()) {
    at["operations"] = cell.work.rated;
    at["rate_in"] = cell.work.rated_unit;
  }
  at["cold"] = summary_json(cell.cold);
  at["warm"] = summary_json(cell.warm);
  if (cell.energy) at["energy"] = energy_json(*cell.energy);
  return at;
}

json duel_json(const duel& d) {
  return {{"size", d.size},
          {"label", d.label},
          {"cold", side_json(d.cold)},
          {"warm", side_json(d.warm)},
          {"pairs", d.pairs}};
}

// The measurements per size, with rates, which a record omits.
json sizes_json(const bench_row& row) {
  json sizes = json::array();
  for (const auto& cell : row.cells) {
    json at = cell_json(cell);
    at["cold"]["gb_per_s"] = rounded(cell.work.bytes / cell.cold.median_ms / 1e6, 0.1);
    at["warm"]["gb_per_s"] = rounded(cell.work.bytes / cell.warm.median_ms / 1e6, 0.1);
    sizes.push_back(std::move(at));
  }
  return sizes;
}

// Null if it is not one of the lab's baselines.
const baseline* baseline_named(const lab& l, const std::string& name) {
  const auto found = std::find_if(l.baselines.begin(), l.baselines.end(),
                                  [&](const baseline& p) { return p.name == name; });
  return found == l.baselines.end() ? nullptr : &*found;
}

problem_work work_of(const json& cell) {
  problem_work w;
  w.bytes = cell.at("bytes");
  if (const auto rate = cell.find("rate_in"); rate != cell.end()) {
    w.rated_unit = *rate;
    w.rated = cell.at("operations");
  }
  return w;
}

std::vector<std::string> names_of(const json& record, const char* kind) {
  std::vector<std::string> names;
  for (const json& entry : record.at("entries"))
    if (entry.contains(kind) &&
        (names.empty() || names.back() != entry.at(kind).get<std::string>()))
      names.push_back(entry.at(kind));
  return names;
}

// The last recorded step that may help. Empty if there is no such step.
std::string last_step_of(const lab& l, const json& record) {
  std::string last;
  for (const auto& name : names_of(record, "step"))
    if (l.may_help(name)) last = name;
  return last;
}

// The last step at its largest size at which no step was too slow, or at its largest size if there
// is no such size.
json entry_at_size_of_all(const lab& l, const json& record) {
  const auto cells = entries_of_last_step(l, record);
  const auto steps = names_of(record, "step");
  const auto found = std::find_if(cells.rbegin(), cells.rend(), [&](const json& cell) {
    return std::all_of(steps.begin(), steps.end(), [&](const std::string& step) {
      return measured_at(record, step, cell.at("size")) != nullptr;
    });
  });
  return found == cells.rend() ? cells.back() : *found;
}

// The lab's baselines that the record may have. CPU baselines are only in records that name a CPU.
std::vector<baseline> baselines_of(const lab& l, const json& record) {
  std::vector<baseline> found;
  if (names_of(record, "baseline").empty()) return found;
  for (baseline p : l.baselines) {
    if (p.on_cpu && !record.contains("cpu")) continue;
    if (p.on_cpu)
      p.what =
          fmt::format("CPU, {} threads: {}", record.at("cpu").at("threads").get<int>(), p.what);
    found.push_back(std::move(p));
  }
  return found;
}

std::string table_markdown(const lab& l, const json& record) {
  const json largest = entry_at_size_of_all(l, record);
  std::string text =
      fmt::format("**{}** on an {}, {} {}\n\n", l.title, record.at("gpu").get<std::string>(),
                  recorded_size(largest), source_of(record));
  text += "| step | idea | time | rate | over its base step |\n|---|---|---:|---:|---:|\n";
  std::map<std::string, double> time_of;
  const auto row = [&](const std::string& name, const std::string& what, const std::string& over) {
    const json* const cell = measured_at(record, name, largest.at("size"));
    if (cell == nullptr) {
      text += fmt::format("| {} | {} | not measured | | |\n", name, what);
      return;
    }
    const double time_ms = cell->at("cold").at("median_ms");
    time_of[name] = time_ms;
    const auto before = time_of.find(over);
    text += fmt::format("| {} | {} | {} | {} | {} |\n", name, what, time_text(time_ms),
                        recorded_rate(*cell),
                        before == time_of.end() ? "" : ratio_text(before->second / time_ms));
  };
  for (const auto& s : l.steps) row(s.name, s.idea, s.over);
  for (const auto& p : baselines_of(l, record)) row(p.name, p.what, "");
  return text;
}

// Energy is measured only at the last size, if at all.
std::string energy_table(const lab& l, const json& record) {
  const json last = entries_of_last_step(l, record).back();
  std::string rows;
  const auto row = [&](const std::string& name, const std::string& shown) {
    const json* const cell = measured_at(record, name, last.at("size"));
    const std::string energy = cell == nullptr ? "" : energy_at(*cell);
    if (!energy.empty()) rows += fmt::format("| {} | {} |\n", shown, energy);
  };
  for (const auto& s : l.steps) row(s.name, s.name);
  for (const auto& p : baselines_of(l, record)) row(p.name, p.name + ": " + p.what);
  if (rows.empty()) return "";
  return fmt::format(
      "Energy per call and mean power of the board on an {}, {}, warm L2 ({})\n\n"
      "| step | energy per call, mean power |\n|---|---:|\n{}",
      record.at("gpu").get<std::string>(), recorded_size(last), origin_of(record), rows);
}

std::string handout_table(const lab& l, const json& record) {
  const auto columns = entries_of_last_step(l, record);
  std::string text = fmt::format("Measured on an {} {}\n\n| step |",
                                 record.at("gpu").get<std::string>(), source_of(record));
  for (const auto& column : columns) text += " " + recorded_size(column) + " |";
  text += "\n|---|";
  for (std::size_t k = 0; k < columns.size(); ++k) text += "---:|";
  text += "\n";
  const auto row = [&](const std::string& name, const std::string& shown) {
    text += "| " + shown + " |";
    for (const auto& column : columns) {
      const json* const cell = measured_at(record, name, column.at("size"));
      text += cell == nullptr ? " |" : " " + recorded_rate(*cell) + " |";
    }
    text += "\n";
  };
  for (const auto& s : l.steps) row(s.name, s.name);
  for (const auto& p : baselines_of(l, record)) row(p.name, p.name + ": " + p.what);
  const auto side = [](const json& s) {
    return fmt::format("{:.3f} ({:.3f} to {:.3f})", s.at("ratio").get<double>(),
                       s.at("low").get<double>(), s.at("high").get<double>());
  };
  for (const auto& name : names_of(record, "duel")) {
    text += fmt::format(
        "\n"
        "Speed of `{}` relative to {}, from alternating calls, with the 95 % interval of the "
        "median\n\n"
        "| size | cold L2 | warm | pairs |\n"
        "|---|---|---|---:|\n",
        last_step_of(l, record), name);
    for (const json& at : record.at("entries"))
      if (at.value("duel", "") == name)
        text += fmt::format("| {} | {} | {} | {} |\n", recorded_size(at), side(at.at("cold")),
                            side(at.at("warm")), at.at("pairs").get<std::size_t>());
  }
  return text;
}

std::vector<fs::path> record_files(const fs::path& folder, std::string_view kind) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path file = entry.path(), of_kind = file.stem().extension();
    if (file.extension() == ".jsonl" && of_kind == (kind.empty() ? "" : "." + std::string(kind)))
      files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

const json* measured_at(const json& record, const std::string& name, const json& size) {
  for (const json& entry : record.at("entries"))
    if ((entry.value("step", "") == name || entry.value("baseline", "") == name) &&
        entry.at("size") == size)
      return &entry;
  return nullptr;
}

std::string recorded_rate(const json& entry) {
  return rate_text(work_of(entry), entry.at("cold").at("median_ms"));
}

std::vector<json> entries_of_last_step(const lab& l, const json& record) {
  const std::string last = last_step_of(l, record);
  if (last.empty()) throw malformed_json("it has no step");
  std::vector<json> found;
  for (const json& entry : record.at("entries"))
    if (entry.value("step", "") == last) found.push_back(entry);
  return found;
}

std::string recorded_size(const json& entry) {
  const std::string label = entry.at("label");
  return without_seed(label);
}

json cpu_json() { return {{"name", host::cpu_name()}, {"threads", host::thread_count()}}; }

json baselines_json(const lab& l, const std::vector<bench_row>& rows) {
  json baselines = json::array();
  for (const auto& row : rows) {
    const baseline* const p = baseline_named(l, row.name);
    if (p == nullptr || row.cells.empty()) continue;
    baselines.push_back(
        {{"name", row.name}, {"on", p->on_cpu ? "cpu" : "gpu"}, {"sizes", sizes_json(row)}});
  }
  return baselines;
}

std::vector<std::string> baselines_lost(const json& older, const lab& l,
                                        const std::vector<contender>& baselines) {
  std::vector<std::string> lost;
  for (const auto& name : names_of(older, "baseline")) {
    if (baseline_named(l, name) != nullptr &&
        std::none_of(baselines.begin(), baselines.end(),
                     [&](const contender& p) { return p.name == name; }))
      lost.push_back(name);
  }
  return lost;
}

json record_head(const lab& l, const device_choice& device, const std::string& date,
                 const std::string& command) {
  return {{"lab", l.name},
          {"gpu", device.name},
          {"driver", device.state.driver_version},
          {"runtime", device.state.runtime_version},
          {"date", date},
          {"command", command}};
}

json record_of(const lab& l, const device_choice& device, const std::vector<bench_row>& rows,
               const duels& fought, const std::string& date, const std::string& command) {
  json record = record_head(l, device, date, command), entries = json::array();
  for (const auto& row : rows) {
    const baseline* const p = baseline_named(l, row.name);
    if (p != nullptr && p->on_cpu && !row.cells.empty()) record["cpu"] = cpu_json();
    for (const auto& cell : row.cells) {
      json entry = {{p == nullptr ? "step" : "baseline", row.name}};
      if (p != nullptr) entry["on"] = p->on_cpu ? "cpu" : "gpu";
      entry.update(cell_json(cell));
      entries.push_back(std::move(entry));
    }
  }
  for (const auto& [name, at_sizes] : fought) {
    for (const auto& d : at_sizes) {
      json entry = {{"duel", name}};
      entry.update(duel_json(d));
      entries.push_back(std::move(entry));
    }
  }
  record["entries"] = std::move(entries);
  return record;
}

json bench_json(const lab& l, const device_choice& device, const std::vector<bench_row>& rows,
                const duels& fought, const std::string& date, const std::string& command) {
  json document = record_head(l, device, date, command);
  document["method"] =
      "device time between events, median of all samples with its 95 % interval; "
      "the steps alternate, forwards and backwards; cold: the L2 cache is "
      "overwritten before every call; on a CPU the time on the host's clock, without transfers; "
      "cold: the call's buffers are in no cache";
  document["steps"] = json::array();
  const bool has_energy = std::any_of(rows.begin(), rows.end(), [](const bench_row& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const bench_cell& cell) { return cell.energy.has_value(); });
  });
  if (has_energy) {
    document["method"] = document["method"].get<std::string>() +
                         "; energy: of the whole board by NVML's counter, over calls back to "
                         "back, warm L2";
  }
  for (const auto& row : rows)
    if (baseline_named(l, row.name) == nullptr && !row.cells.empty())
      document["steps"].push_back({{"name", row.name}, {"sizes", sizes_json(row)}});
  if (auto baselines = baselines_json(l, rows); !baselines.empty()) {
    const bool on_cpu = std::any_of(baselines.begin(), baselines.end(),
                                    [](const json& p) { return p.at("on") == "cpu"; });
    if (on_cpu) document["cpu"] = cpu_json();
    document["baselines"] = std::move(baselines);
  }
  for (const auto& [name, at_sizes] : fought) {
    json sizes = json::array();
    for (const auto& d : at_sizes) sizes.push_back(duel_json(d));
    document["duels"].push_back({{"baseline", name}, {"sizes", sizes}});
  }
  return document;
}

std::string of_records(const fs::path& root, const lab& l, std::string_view kind,
                       const std::function<std::string(const lab&, const json&)>& table,
                       records_of which) {
  std::string text;
  auto files = record_files(root / "solutions" / l.name / "measured", kind);
  if (which == records_of::first_gpu && files.size() > 1) {
    for (const auto& id : known_gpus()) {
      const auto of_it = [&](const fs::path& file) { return file.stem() == id; };
      const auto found = std::ranges::find_if(files, of_it);
      if (found == files.end()) continue;
      files = std::vector<fs::path>{*found};
      break;
    }
  }
  for (const auto& file : files) {
    const std::string one = read_record(file, [&](const json& record) { return table(l, record); });
    text += (text.empty() || one.empty() ? "" : "\n") + one;
  }
  return text;
}

std::string source_of(const json& record) {
  std::string cpu;
  if (record.contains("cpu"))
    cpu = fmt::format("CPU: {}, ", record.at("cpu").at("name").get<std::string>());
  return fmt::format(
      "(cold L2; {}, driver {}, {}`{}`)", record.at("date").get<std::string>().substr(0, 10),
      record.at("driver").get<std::string>(), cpu, record.at("command").get<std::string>());
}

std::string results_markdown(const fs::path& root, const std::vector<lab>& labs) {
  std::string text;
  for (const auto& l : labs) {
    const std::string table = of_records(root, l, "", table_markdown, records_of::first_gpu);
    text += (text.empty() || table.empty() ? "" : "\n") + table;
  }
  if (text.empty()) {
    text =
        "No GPU has been measured yet: `./lab dev bench reduction --record` on a machine with one "
        "fills this table.\n";
  }
  return text;
}

// The fastest step of the path, next to the baselines on the GPU and the fastest baseline on the
// CPU, at the size of the lab's table. Ratios to the first step and to slow CPU programs say
// little.
std::string winner_row(const lab& whole, const json& record) {
  const lab l = path_of(whole);
  const json largest = entry_at_size_of_all(whole, record);
  const auto time_of = [&](const std::string& name) {
    const json* const cell = measured_at(record, name, largest.at("size"));
    return cell == nullptr ? 0.0 : cell->at("cold").at("median_ms").get<double>();
  };
  const step* best = nullptr;
  for (const auto& s : l.steps) {
    const double t = time_of(s.name);
    if (t > 0 && (best == nullptr || t < time_of(best->name))) best = &s;
  }
  if (best == nullptr) return "";
  const double fastest = time_of(best->name);
  std::string over;
  const auto add = [&](const std::string& name) {
    if (const double t = time_of(name); t > 0)
      over += (over.empty() ? "" : ", ") + name + " " + ratio_text(t / fastest);
  };
  std::string fastest_on_cpu;
  for (const auto& p : baselines_of(l, record)) {
    if (!p.on_cpu) {
      add(p.name);
    } else if (const double t = time_of(p.name);
               t > 0 && (fastest_on_cpu.empty() || t < time_of(fastest_on_cpu))) {
      fastest_on_cpu = p.name;
    }
  }
  add(fastest_on_cpu);
  return fmt::format("| {} | {} | {} | {} | {} |\n", l.name, recorded_size(largest), best->name,
                     time_text(fastest), over);
}

std::string winners_markdown(const fs::path& root, const std::vector<lab>& labs) {
  std::string rows;
  for (const auto& l : labs) rows += of_records(root, l, "", winner_row, records_of::first_gpu);
  return "| lab | size | fastest step of its path | time | speed relative to "
         "|\n|---|---|---|---:|---|\n" +
         rows;
}

std::string handout_markdown(const fs::path& root, const lab& l) {
  const std::string text = of_records(root, l, "", handout_table, records_of::first_gpu);
  return text.empty() ? "No GPU has been measured yet.\n" : text;
}

std::string energy_markdown(const fs::path& root, const lab& l) {
  return of_records(root, l, "", energy_table);
}

std::string with_results(const std::string& readme, const std::string& results,
                         std::string_view mark) {
  const std::string begin_mark = fmt::format("<!-- {}:begin -->", mark);
  const std::string end_mark = fmt::format("<!-- {}:end -->", mark);
  const auto begin = readme.find(begin_mark), end = readme.find(end_mark);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    throw failure(exit_code::ours,
                  fmt::format("expected the two lines {} and {}, in this order; `./lab dev bench "
                              "--readme` fills in the text between them",
                              begin_mark, end_mark));
  }
  return readme.substr(0, begin + begin_mark.size()) + "\n" + results + readme.substr(end);
}

}  // namespace stepwise
