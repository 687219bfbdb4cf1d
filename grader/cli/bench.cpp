// lab bench: all steps of a lab side by side, and the record that every published speed comes from.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "grader/cli/commands.hpp"
#include "grader/measure/alternate.hpp"
#include "grader/measure/record.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

constexpr std::uint64_t bench_seed = 7;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::string command_text(const context& c) {
  std::string text = "./lab";
  for (const auto& argument : c.arguments) text += " " + argument;
  return text;
}

std::vector<lab_size> wanted_sizes(const lab& l, const problem& p, const device_choice& device,
                                   const std::vector<std::string>& texts) {
  std::vector<lab_size> sizes;
  for (const auto& text : texts) sizes.push_back(*parse_size(l, p, text));
  if (sizes.empty()) sizes = device.gpu ? l.bench : l.emulated;
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

int refresh_readme(context& c) {
  const fs::path file = c.where.root / "README.md";
  const file_lock lock(c.where.build / "locks" / "readme");
  const std::string before = read_file(file, static_cast<int>(exit_code::ours));
  const std::string after =
      with_results(before, results_markdown(c.where.root, load_labs(c.where.root)));
  if (after != before) write_atomically(file, after);
  if (c.as_json) c.print({{"file", "README.md"}, {"changed", after != before}});
  c.say(after == before ? "README.md was fresh already" : "README.md has the recorded results");
  return 0;
}

void show_rows(context& c, const std::vector<bench_row>& rows) {
  const auto first = std::find_if(rows.begin(), rows.end(),
                                  [](const bench_row& row) { return !row.cells.empty(); });
  if (first == rows.end()) return;
  for (std::size_t s = 0; s < first->cells.size(); ++s) {
    std::vector<std::vector<cell>> lines;
    const std::string label = first->cells[s].label;
    c.say(c.out.paint(tone::strong, label.substr(0, label.find(", seed"))));
    for (const auto& row : rows) {
      if (row.cells.empty()) {
        lines.push_back({{row.name, tone::bad},
                         {std::string(name_of(row.found.what)), tone::bad},
                         {""},
                         {""},
                         {""}});
        continue;
      }
      const auto& at = row.cells[s];
      const auto rate = [&](const sample_summary& t) {
        return rate_text(at.work.bytes / t.median_ms / 1e6);
      };
      const auto range = fmt::format("{} to {}", time_text(at.cold.range_ms.low),
                                     time_text(at.cold.range_ms.high));
      lines.push_back({{row.name},
                       {time_text(at.cold.median_ms)},
                       {range, tone::dim},
                       {rate(at.cold), tone::strong},
                       {rate(at.warm)}});
    }
    for (const auto& line : table_lines({{"step"},
                                         {"time, cold L2", true},
                                         {"95 % interval", true},
                                         {"rate, cold", true},
                                         {"rate, warm", true}},
                                        lines, c.out.style())) {
      c.say(line);
    }
    c.say();
  }
}

// Without a GPU there is no time: what each step executes and moves, size by size.
int bench_counted(context& c, const lab& l, const problem& p, const device_choice& device,
                  const std::vector<lab_size>& sizes) {
  json document = {{"lab", l.name}, {"device", device_json(device)}, {"steps", json::array()}};
  verdict worst = verdict::pass;
  for (const auto& s : l.steps)
    document["steps"].push_back({{"name", s.name}, {"sizes", json::array()}});
  c.say("counted on the emulator: this is work, not time");
  for (const auto& size : sizes) {
    std::vector<std::vector<cell>> rows;
    for (std::size_t i = 0; i < l.steps.size(); ++i) {
      const auto& s = l.steps[i];
      const auto f = measure_program(l, p, c.where.solution(l.name, s.name), device, size,
                                     bench_seed, c.now());
      if (!f.found.ok()) worst = f.found.what;
      document["steps"][i]["sizes"].push_back(figures_json(f));
      if (!f.counters) {
        rows.push_back(
            {{s.name, tone::bad}, {std::string(name_of(f.found.what)), tone::bad}, {""}});
        continue;
      }
      rows.push_back({{s.name},
                      {count_text(static_cast<double>(f.counters->warp_instructions))},
                      {bytes_text(f.global_bytes())}});
    }
    c.say();
    c.say(c.out.paint(tone::strong, "size " + size_text(size)));
    for (const auto& line :
         table_lines({{"step"}, {"warp instructions", true}, {"global memory", true}}, rows,
                     c.out.style())) {
      c.say(line);
    }
  }
  if (c.as_json) c.print(document);
  return worst == verdict::pass ? 0 : static_cast<int>(exit_code::ours);
}

}  // namespace

int bench(context& c, const bench_options& o) {
  if (o.readme) return refresh_readme(c);
  if (o.lab.empty()) throw failure(exit_code::usage, "which lab? `./lab bench reduction`");
  const lab l = load_lab(c.where.root, o.lab);
  const problem& p = problem_of(l);
  const device_choice device = c.device();
  if (o.record && !device.gpu) {
    const std::string why =
        c.request == device_request::emulated ? "the emulator was asked for" : device.state.missing;
    throw failure(
        exit_code::environment,
        "--record needs a GPU, and there is none to use: " + why +
            "\nthe emulator counts work but has no clock, so its figures are not recorded");
  }
  const auto sizes = wanted_sizes(l, p, device, o.sizes);
  if (!device.gpu) return bench_counted(c, l, p, device, sizes);
  std::vector<contender> all;
  for (const auto& s : l.steps) all.push_back({s.name, c.where.solution(l.name, s.name)});
  const file_lock lock(c.where.build / "locks" / "gpu",
                       [&] { c.busy.doing("waiting for another lab that measures on the GPU"); });
  c.say(fmt::format("{} on {}", c.out.paint(tone::strong, l.title), device.text()));
  c.say();
  const auto rows = stepwise::bench(l, p, all, device, sizes, bench_seed, c.now());
  const auto record = record_of(l, device, rows, utc_now(), command_text(c));
  const auto failed =
      std::find_if(rows.begin(), rows.end(), [](const bench_row& r) { return !r.found.ok(); });
  if (!c.as_json) show_rows(c, rows);
  if (failed != rows.end()) {
    if (c.as_json) c.print(record);
    throw failure(exit_code::ours, failed->name + ": " + failed->found.message +
                                       (o.record ? "\nnothing was recorded" : ""));
  }
  if (o.record) {
    const fs::path file =
        fs::path("solutions") / l.name / "measured" / (gpu_file_name(device.name) + ".json");
    write_atomically(c.where.root / file, record.dump(1) + "\n");
    c.say("recorded in " + c.out.paint(tone::place, file.string()) +
          "; `./lab bench --readme` puts it into README.md");
  }
  if (c.as_json) c.print(record);
  return 0;
}

}  // namespace stepwise::cli
