// Measures the last step at random sizes, in runs that fit into memory.
#include "grader/measure/ragged/ragged.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/bench/bench.hpp"
#include "grader/cli/text/ragged_text.hpp"
#include "grader/measure/record.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

// The total input bytes in one run of random sizes. Host memory holds the inputs twice.
constexpr double ragged_bytes = 8e9;
constexpr std::size_t ragged_sizes = 10;  // in one run: a failure loses all of them

}  // namespace

int bench_ragged(context& c, const lab& l, const problem& p, const device_choice& device,
                 const bench_options& o) {
  auto baselines = usable_baselines(c, l, device);
  // CPU times differ by an order of magnitude. They count only if no baseline runs on the GPU.
  if (std::any_of(l.baselines.begin(), l.baselines.end(),
                  [](const baseline& who) { return !who.on_cpu; }))
    std::erase_if(baselines, [](const contender& who) { return who.on_cpu; });
  if (baselines.empty())
    throw failure(
        exit_code::environment,
        "no baseline of " + l.name +
            " can run here, but --ragged compares with baselines\n`ninja -C build baselines` "
            "builds the baselines listed in solutions/" +
            l.name + "/baselines.txt");
  const fs::path file = record_file(l, device.name, "ragged");
  if (o.record) keep_baselines(c, l, file, baselines);
  const step& last = l.last_step();
  const auto runs = in_runs(
      draw_ragged(l, *o.ragged, o.seed), [&](const lab_size& size) { return p.work(size).bytes; },
      ragged_bytes, ragged_sizes);
  std::vector<bench_report> reports;
  std::optional<failure> failed;  // earlier measurements are still shown
  for (const auto& sizes : runs) {
    try {
      auto report = stepwise::bench(l, p, {{last.name, c.where.solution(l.name, last.name)}},
                                    baselines, device, sizes, bench_seed, c.now(), {.warm = false});
      if (const auto& found = report.rows.front().found; !found.ok())
        throw failure(exit_code::ours, last.name + ": " + found.message);
      reports.push_back(std::move(report));
    } catch (const failure& error) {
      failed.emplace(error.code(), fmt::format("{}\nat a size from {} to {}{}", error.what(),
                                               size_text(sizes.front()), size_text(sizes.back()),
                                               o.record ? "; nothing was recorded" : ""));
      break;
    }
  }
  const json record = ragged_record(l, device, o.seed, *o.ragged, ragged_points(reports), utc_now(),
                                    command_text(c));
  if (c.as_json && !failed) c.print(ragged_json(record));
  for (const auto& line : ragged_lines(record, c.out.style())) c.say(line);
  if (failed) throw failure(*failed);
  if (o.record) {
    write_record(c.where.root / file, record);
    say_recorded(c, file, l.results().string());
  }
  return 0;
}

}  // namespace stepwise::cli
