// lab dev bench: compares all steps of a lab, and makes the record from which every published speed
// comes.
#include "grader/cli/bench/bench.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/measure/energy.hpp"
#include "grader/measure/promises.hpp"
#include "grader/measure/ragged/ragged.hpp"
#include "grader/measure/record.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

std::vector<lab_size> wanted_sizes(const lab& l, const problem& p, const device_choice& device,
                                   const std::vector<std::string>& texts) {
  std::vector<lab_size> sizes;
  for (const auto& text : texts) sizes.push_back(*parse_size(l, p, text));
  if (sizes.empty()) sizes = device.gpu ? l.bench : l.emulated;
  std::sort(sizes.begin(), sizes.end());
  return sizes;
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

// Shows the speedups that steps.txt promises. `made_here` means that they are for a GPU of this
// kind.
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

bool any_on_cpu(const std::vector<contender>& baselines) {
  return std::any_of(baselines.begin(), baselines.end(),
                     [](const contender& p) { return p.on_cpu; });
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
    "  ./lab dev bench reduction --record        also record the result (GPU only)\n"
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
