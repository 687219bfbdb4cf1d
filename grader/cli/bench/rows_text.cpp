// Shows measured steps and baselines as tables.
#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/bench/bench.hpp"
#include "grader/measure/energy.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {

void show_rows(context& c, const std::vector<bench_row>& rows) {
  std::vector<std::string> labels;
  for (const auto& row : rows)
    for (const auto& at : row.cells)
      if (std::find(labels.begin(), labels.end(), at.label) == labels.end())
        labels.push_back(at.label);
  for (const auto& label : labels) {
    bool has_energy = false;
    std::vector<std::vector<cell>> lines;
    c.say(c.out.paint(tone::strong, without_seed(label)));
    for (const auto& row : rows) {
      const auto at = std::find_if(row.cells.begin(), row.cells.end(),
                                   [&](const bench_cell& b) { return b.label == label; });
      if (at == row.cells.end()) {
        const bool failed = !row.found.ok();
        lines.push_back({{row.name, failed ? tone::bad : tone::dim},
                         {failed ? std::string(name_of(row.found.what)) : "too slow", tone::dim},
                         {""},
                         {""},
                         {""},
                         {""}});
        continue;
      }
      const auto range = fmt::format("{} to {}", time_text(at->cold.range_ms.low),
                                     time_text(at->cold.range_ms.high));
      lines.push_back(
          {{row.name},
           {time_text(at->cold.median_ms)},
           {range, tone::dim},
           {rate_text(at->work, at->cold.median_ms), tone::strong},
           {rate_text(at->work, at->warm.median_ms)},
           {at->energy ? fmt::format("{}, {:.0f} W", energy_text(at->energy->joules_per_call),
                                     at->energy->average_watts)
                       : ""}});
      has_energy = has_energy || at->energy;
    }
    std::vector<column> columns = {{"step"},
                                   {"time, cold L2", true},
                                   {"95 % interval", true},
                                   {"rate, cold", true},
                                   {"rate, warm", true},
                                   {"energy per call, warm", true}};
    if (!has_energy) {
      columns.pop_back();
      for (auto& line : lines) line.pop_back();
    }
    c.table(columns, lines);
    c.say();
  }
}

void show_duels(context& c, const lab& l, const duels& fought) {
  for (const auto& [name, at_sizes] : fought) {
    std::vector<std::vector<cell>> lines;
    const auto side = [](const duel::side& s) {
      return fmt::format("{:.3f} ({:.3f} to {:.3f})", s.ratio, s.range.low, s.range.high);
    };
    for (const auto& d : at_sizes)
      lines.push_back({{without_seed(d.label)}, {side(d.cold)}, {side(d.warm)}});
    c.say(fmt::format("{} against {}: relative speed, {} pairs", l.last_step().name, name,
                      at_sizes.empty() ? 0 : at_sizes[0].pairs));
    c.table({{"size"}, {"cold L2", true}, {"warm", true}}, lines);
    c.say();
  }
}

}  // namespace stepwise::cli
