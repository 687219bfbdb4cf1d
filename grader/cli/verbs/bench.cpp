// lab dev bench: compares all steps of a lab, and makes the record that every published speed comes
// from.
#include <fmt/core.h>

#include <algorithm>

#include "common/cpu/cpu.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/text/ragged_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/measure/alternate.hpp"
#include "grader/measure/energy.hpp"
#include "grader/measure/figures.hpp"
#include "grader/measure/handout_tables.hpp"
#include "grader/measure/limits_record.hpp"
#include "grader/measure/promises.hpp"
#include "grader/measure/ragged/ragged.hpp"
#include "grader/measure/record.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/loader.hpp"
#include "grader/system/program_file.hpp"

namespace stepwise::cli {
namespace {

struct bench_options {
  std::string lab;
  bool record = false, readme = false, baselines = false;
  bool cpu = false;  // only the baselines on the CPU
  std::vector<std::string> sizes;
  std::optional<std::uint64_t> ragged;  // how many sizes to draw
  std::uint64_t seed = 1;               // of the random sizes
};

constexpr std::uint64_t bench_seed = 7;
// Total input bytes in one run of random sizes. Host memory holds the inputs twice.
constexpr double ragged_bytes = 8e9;
constexpr std::size_t ragged_sizes = 10;  // in one run: a failure loses all of them

std::vector<lab_size> wanted_sizes(const lab& l, const problem& p, const device_choice& device,
                                   const std::vector<std::string>& texts) {
  std::vector<lab_size> sizes;
  for (const auto& text : texts) sizes.push_back(*parse_size(l, p, text));
  if (sizes.empty()) sizes = device.gpu ? l.bench : l.emulated;
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

// The tables of the main README, of solutions/README.md, and of each lab's deeper.md and DESIGN.md.
int refresh_readmes(context& c) {
  const file_lock lock(c.where.build / "locks" / "readme");
  const auto labs = load_labs(c.where.build);
  std::vector<std::string> changed;
  // A table with the mark in the comment lines around it.
  using marked = std::pair<std::string, std::string>;
  const auto refresh = [&](const fs::path& file, const std::vector<marked>& tables) {
    const std::string before = read_file(c.where.root / file, static_cast<int>(exit_code::ours));
    std::string after = before;
    try {
      for (const auto& [mark, table] : tables)
        if (!table.empty()) after = with_results(after, table, mark);
    } catch (const failure& marks) {
      throw failure(marks.code(), file.string() + ": " + marks.what());
    }
    if (after == before) return;
    write_atomically(c.where.root / file, after);
    changed.push_back(file);
  };
  refresh("README.md", {{"results", winners_markdown(c.where.root, labs)}});
  refresh("solutions/README.md", {{"results", results_markdown(c.where.root, labs)}});
  for (const auto& l : labs) {
    std::vector<marked> tables = {{"results", handout_markdown(c.where.root, l)},
                                  {"limits", limits_markdown(c.where.root, l)},
                                  {"lectures", lectures_markdown(c.where.root, l)}};
    if (!l.ragged.empty()) tables.emplace_back("ragged", ragged_markdown(c.where.root, l));
    const auto add_sweeps = [&](const fs::path& file, std::vector<marked>& to) {
      for (const auto& name : sweeps_in(read_if_there(c.where.root / file).value_or("")))
        to.emplace_back("sweep " + name, sweep_markdown(c.where.root, l, name));
    };
    add_sweeps(l.deeper(), tables);
    refresh(l.deeper(), tables);
    std::vector<marked> sweeps;
    add_sweeps(l.design(), sweeps);
    if (!sweeps.empty()) refresh(l.design(), sweeps);
  }
  if (c.as_json) c.print({{"changed", changed}});
  for (const auto& file : changed) c.say(file + ": updated with the recorded results");
  if (changed.empty()) c.say("the tables are up to date");
  return 0;
}

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
    c.say(fmt::format("{} against {}: relative speed, {} pairs", l.steps.back().name, name,
                      at_sizes.empty() ? 0 : at_sizes[0].pairs));
    c.table({{"size"}, {"cold L2", true}, {"warm", true}}, lines);
    c.say();
  }
}

std::vector<promise> promises_by(const lab& l, const std::vector<bench_row>& rows) {
  return judge_promises(
      l, [&](const std::string& name, const lab_size& size) -> std::optional<double> {
        for (const auto& row : rows) {
          if (row.name != name) continue;
          for (const auto& at : row.cells)
            if (at.size == size) return at.cold.median_ms;
        }
        return std::nullopt;
      });
}

json promises_json(const std::vector<promise>& promises) {
  json list = json::array();
  for (const auto& p : promises)
    list.push_back({{"step", p.step},
                    {"over", p.over},
                    {"size", p.size},
                    {"at_least", p.at_least},
                    {"ratio", p.ratio ? json(*p.ratio) : json(nullptr)}});
  return list;
}

// Shows the speedups that steps.txt promises. `made_here` means for a GPU of this kind.
void show_promises(context& c, const std::vector<promise>& promises, bool made_here) {
  const auto unmeasured =
      std::count_if(promises.begin(), promises.end(), [](const promise& p) { return !p.ratio; });
  const auto broken = std::count_if(promises.begin(), promises.end(),
                                    [](const promise& p) { return p.is_broken(); });
  c.say(fmt::format("speedups promised in steps.txt{}: {} hold, {} do not, {} were not measured",
                    made_here ? "" : " for another GPU", std::ssize(promises) - unmeasured - broken,
                    broken, unmeasured));
  for (const auto& p : promises)
    if (p.is_broken()) c.say("  " + c.out.paint(tone::bad, promise_text(p)));
  c.say();
}

// The library that a program needs and this machine lacks; "" if there is none. A folder built
// elsewhere may hold baselines whose libraries only that machine has.
std::string missing_library(const fs::path& program, const device_choice& device) {
  const auto file = read_program_file(program, 0);
  if (!file) return "";
  for (const auto& library : libraries_of(program, file->interpreter, device.environment())
                                 .value_or(std::vector<loaded_library>{}))
    if (library.file.empty()) return library.name;
  return "";
}

// The lab's baselines that were built and can run on this device. Reports those that cannot.
std::vector<contender> usable_baselines(context& c, const lab& l, const device_choice& device) {
  std::vector<contender> found;
  for (const auto& p : l.baselines) {
    const fs::path program = c.where.solution(l.name, "baseline-" + p.name);
    std::string why;
    if (!p.on_cpu && !device.gpu) {
      why = "its comparison needs times, and so a GPU";
    } else if (!fs::exists(program)) {
      why = "it is not built; `ninja -C build baselines` builds it if its library is installed";
    } else if (const auto library = missing_library(program, device); !library.empty()) {
      why = library + " is not installed here";
    }
    if (why.empty()) {
      found.push_back({p.name, program, p.is_right, p.on_cpu});
    } else if (!c.as_json) {
      c.out.paragraph(p.name + " is left out: " + why, 2, {}, tone::dim);
    }
  }
  return found;
}

// Throws failure(usage) if the record has baselines that its successor would lack.
void keep_baselines(context& c, const lab& l, const fs::path& record,
                    const std::vector<contender>& baselines) {
  if (!fs::exists(c.where.root / record)) return;
  const auto lost = read_record(c.where.root / record, [&](const json& older) {
    return baselines_lost(older, l, baselines);
  });
  if (lost.empty()) return;
  throw failure(
      exit_code::usage,
      fmt::format(
          "{} contains {}, which this run would not measure\nadd --baselines to measure the "
          "baselines that `ninja -C build baselines` has built, or remove the file",
          record.string(), joined(lost, ", ")));
}

bool any_on_cpu(const std::vector<contender>& baselines) {
  return std::any_of(baselines.begin(), baselines.end(),
                     [](const contender& p) { return p.on_cpu; });
}

std::string cpu_text() {
  return fmt::format("{}, {} threads", host::cpu_name(), host::thread_count());
}

// Without a GPU, the CPU baselines can still be timed.
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

// Without a GPU there is no time, so this counts what each step executes and moves, size by size.
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

// Compares the last step with its baselines at random sizes from a seed.
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
  const step& last = l.steps.back();
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
    say_recorded(c, file, "the lab's deeper.md");
  }
  return 0;
}

// Throws failure(environment) without a GPU: `what` needs one, for the reason `because`.
void need_gpu(const context& c, const device_choice& device, std::string_view what,
              std::string_view because) {
  if (device.gpu) return;
  const std::string why =
      c.request == device_request::emulated ? "the emulator was requested" : device.state.missing;
  throw failure(exit_code::environment,
                fmt::format("{} needs a GPU, but none is available: {}\n{}", what, why, because));
}

int bench(context& c, const bench_options& o) {
  need_solutions(c.where.root, "dev bench");
  if (o.readme) return refresh_readmes(c);
  if (o.lab.empty())
    throw failure(exit_code::usage, "name a lab, for example `./lab dev bench reduction`");
  const lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  const device_choice device = c.device();
  if (o.record && o.cpu)
    throw failure(
        exit_code::usage,
        "--cpu measures no step, but a record needs steps: use --record --baselines for both");
  if (o.ragged) {
    draw_ragged(l, *o.ragged, o.seed);  // reports a wrong draw first
    need_gpu(c, device, "--ragged", "it compares times, and the emulator has no clock");
  }
  if (o.record)
    need_gpu(c, device, "--record",
             "the emulator counts work but has no clock, so its figures are not recorded");
  const auto sizes = wanted_sizes(l, p, device, o.sizes);
  if (o.cpu) {
    json document = {{"lab", l.name}};
    bench_on_cpu(c, l, p, device, sizes, document);
    if (c.as_json) c.print(document);
    return 0;
  }
  if (!device.gpu) return bench_counted(c, l, p, device, sizes, o.baselines);
  std::vector<contender> steps;
  for (const auto& s : l.steps) steps.push_back({s.name, c.where.solution(l.name, s.name)});
  const file_lock lock(gpu_lock_file(device.state), waiting_for_gpu(c));
  c.say(fmt::format("{} on {}", c.out.paint(tone::strong, l.title), device.text()));
  c.say();
  if (o.ragged) return bench_ragged(c, l, p, device, o);
  const auto baselines = o.baselines ? usable_baselines(c, l, device) : std::vector<contender>{};
  const fs::path file = record_file(l, device.name);
  if (o.record) keep_baselines(c, l, file, baselines);
  std::string no_energy;
  const auto energy = find_energy_counter(device.state.pci_bus_id, no_energy);
  if (!energy && !c.as_json)
    c.out.paragraph("energy is not measured: " + no_energy, 2, {}, tone::dim);
  const auto [rows, fought] = stepwise::bench(l, p, steps, baselines, device, sizes, bench_seed,
                                              c.now(), {.energy = energy});
  const std::string date = utc_now();
  json document = bench_json(l, device, rows, fought, date, command_text(c));
  const auto failed =
      std::find_if(rows.begin(), rows.end(), [](const bench_row& r) { return !r.found.ok(); });
  if (!c.as_json) {
    show_rows(c, rows);
    show_duels(c, l, fought);
    if (any_on_cpu(baselines)) c.say("on the CPU: " + cpu_text() + "; transfers excluded");
  }
  if (failed != rows.end()) {
    if (c.as_json) c.print(document);
    throw failure(exit_code::ours, failed->name + ": " + failed->found.message +
                                       (o.record ? "\nnothing was recorded" : ""));
  }
  const bool was_recorded = fs::exists(c.where.root / file);
  const auto promises = promises_by(l, rows);
  if (!c.as_json) show_promises(c, promises, was_recorded);
  if (o.record) {
    write_record(c.where.root / file, record_of(l, device, rows, fought, date, command_text(c)));
    say_recorded(c, file, "the READMEs");
  }
  if (c.as_json) {
    document["promises"] = promises_json(promises);
    c.print(document);
  }
  const bool broken =
      std::any_of(promises.begin(), promises.end(), [](const promise& p) { return p.is_broken(); });
  return broken && was_recorded ? static_cast<int>(exit_code::ours) : 0;
}

const verb bench_verb(
    {verb_place::group::dev, 10}, "bench", "measure all versions alternately, and compare them",
    "  ./lab dev bench reduction                 at the lab's sizes\n"
    "  ./lab dev bench reduction --sizes 1048576,268435456\n"
    "  ./lab dev bench reduction --record        and record the result (GPU only)\n"
    "  ./lab dev bench matmul --baselines            compare with NVIDIA's libraries and the CPU\n"
    "  ./lab dev bench matmul --cpu --sizes 2048 measure only the CPU; needs no GPU\n"
    "  ./lab dev bench matmul --ragged 60        the last step and its baselines at 60 random "
    "sizes\n"
    "  ./lab dev bench --readme                  update the tables of the READMEs from the records",
    [](arguments& takes, bench_options& o) {
      takes.add("LAB", o.lab, "the lab's name");
      auto sizes = takes.add("--sizes", o.sizes, "sizes other than the lab's").split_at_commas();
      takes.flag("--record", o.record,
                 "write solutions/LAB/measured/GPU.jsonl; --ragged: GPU.ragged.jsonl");
      takes.flag("--baselines", o.baselines,
                 "also measure the baselines in baselines.txt; without a GPU: on the CPU");
      auto cpu = takes.flag("--cpu", o.cpu, "measure only the CPU baselines in baselines.txt");
      takes.add("--ragged", o.ragged, "draw K random sizes: odd, multiples of 4, of 32 (GPU only)")
          .excludes(sizes)
          .excludes(cpu);
      takes.add("--seed", o.seed, "for --ragged: the seed of the random sizes (1)");
      takes.flag("--readme", o.readme, "only update the result tables of the READMEs");
    },
    bench);

}  // namespace
}  // namespace stepwise::cli
