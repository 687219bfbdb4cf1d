// Measures figures that need no GPU: the baselines on the CPU, and the emulator's counts.
#include <fmt/core.h>

#include <algorithm>

#include "common/cpu/cpu.hpp"
#include "grader/cli/bench/bench.hpp"
#include "grader/measure/figures.hpp"
#include "grader/measure/record.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {

std::string cpu_text() {
  return fmt::format("{}, {} threads", host::cpu_name(), host::thread_count());
}

void bench_on_cpu(context& c, const lab& l, const problem& p, const device_choice& device,
                  const std::vector<lab_size>& sizes, json& document) {
  auto baselines = usable_baselines(c, l, device);
  std::erase_if(baselines, [](const contender& who) { return !who.on_cpu; });
  document["cpu"] = cpu_json();
  document["baselines"] = json::array();
  if (baselines.empty()) return;
  const file_lock lock(c.where.build / "locks" / "cpu",
                       [&] { c.busy.doing("waiting for another lab that measures on the CPU"); });
  const auto rows = stepwise::bench(l, p, {}, baselines, device, sizes, bench_seed, c.now()).rows;
  document["baselines"] = baselines_json(l, rows);
  if (c.as_json) return;
  c.say("measured on the CPU, " + cpu_text() + ": times exclude transfers");
  c.say();
  show_rows(c, rows);
  for (const auto& size : sizes) {
    const bool is_there = std::any_of(rows.begin(), rows.end(), [&](const bench_row& row) {
      return std::any_of(row.cells.begin(), row.cells.end(),
                         [&](const bench_cell& at) { return at.size == size; });
    });
    if (!is_there) c.say("size " + size_text(size) + " is left out: a call would take too long");
  }
}

int bench_counted(context& c, const lab& l, const problem& p, const device_choice& device,
                  const std::vector<lab_size>& sizes, bool with_baselines) {
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
    c.table({{"step"}, {"warp instructions", true}, {"global memory", true}}, rows);
  }
  if (with_baselines) {
    c.say();
    bench_on_cpu(c, l, p, device, sizes, document);
  }
  if (c.as_json) c.print(document);
  return worst == verdict::pass ? 0 : static_cast<int>(exit_code::ours);
}

}  // namespace stepwise::cli
