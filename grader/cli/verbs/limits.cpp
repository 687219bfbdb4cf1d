// lab limits: compares a program with parts of itself to find out where its time goes.
#include "grader/measure/limits.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/context.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/measure/limits_record.hpp"
#include "grader/measure/profiled.hpp"
#include "grader/measure/record.hpp"
#include "grader/model/modelled.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct limits_options {
  std::string lab, file, step, size, gpu;
  std::string memory, compute;  // the user's own parts; both empty: the course's
  std::uint64_t seed = 7;
  bool record = false;
};

// A shorter call consists mostly of its launch.
constexpr double short_ms = 0.02;
constexpr double seconds_for_a_part = 30;  // per program, to model it

struct program {
  std::string part;  // "full", "memory", ...
  std::string what;  // the remaining work, in a line; empty for the user's parts
  subject source;
  call_outcome found = {};
  limit_counts counts = {};
  std::vector<std::string> doubted = {};
  const bench_cell* timed = nullptr;  // null on the emulator
  modelled_figures m = {};            // if there is no GPU

  double time_ms() const { return timed != nullptr ? timed->cold.median_ms : m.time_ms; }
};

struct dissection {
  std::vector<program> all;  // the whole program first
  std::string step;          // the step of the course's parts; empty for the user's
  std::string counted_at;    // "n = 512, seed 7"
  std::vector<bench_row> rows;
  std::optional<limit_reading> reading;
  bool is_certain = true;
  std::optional<recorded_limits> recorded;  // for the step, if there is no GPU

  bool modelled() const { return all[0].timed == nullptr && all[0].m.timed(); }
  bool ours() const { return !step.empty(); }
};

const std::string& step_with_parts(const lab& l, const std::string& wanted) {
  if (l.parts.empty()) {
    throw failure(exit_code::usage,
                  fmt::format("{} has no parts for steps of the {} lab\nto use your own: "
                              "./lab limits {} --memory FILE --compute FILE",
                              l.is_worked ? "the course" : "a student copy", l.name, l.name));
  }
  if (wanted.empty()) return l.parts[0].step;
  const std::string& name = find_step(l, wanted).name;
  for (const auto& p : l.parts)
    if (p.step == name) return p.step;
  throw failure(exit_code::usage,
                fmt::format("the course has no parts for {}, only for {}\nto use your own: ./lab "
                            "limits {} --step {} --memory FILE --compute FILE",
                            name, l.parts[0].step, l.name, name));
}

// Compiles the programs to compare.
dissection assemble(context& c, const lab& l, const limits_options& o) {
  dissection e;
  if (o.memory.empty() && o.compute.empty()) {
    if (!o.file.empty()) {
      throw failure(exit_code::usage,
                    "--file also needs the parts of that file: --memory FILE and --compute FILE; "
                    "see the handout, \"Find the limit by taking away\"");
    }
    e.step = step_with_parts(l, o.step);
    e.all.push_back({"full", "the step itself", prepare(c, l, "", e.step)});
    for (const auto& p : l.parts) {
      if (p.step != e.step) continue;
      e.all.push_back({p.part, p.what,
                       prepare_ours(c, l, c.where.shown(c.where.root / p.file), p.file,
                                    c.where.solution(l.name, p.program()))});
    }
    return e;
  }
  if (o.record) {
    throw failure(exit_code::usage, "--record works only with the course's own parts, not yours");
  }
  e.all.push_back({"full", "", prepare(c, l, o.file, o.step)});
  for (const auto& [part, file] : {std::pair("memory", o.memory), std::pair("compute", o.compute)})
    if (!file.empty()) e.all.push_back({part, "", prepare(c, l, file, "")});
  return e;
}

json counts_json(const limit_counts& n) {
  json by_pipe, launches = json::array();
  for (int i = 0; i < pipes; ++i)
    if (n.warps[i] > 0) by_pipe[name_of(static_cast<pipe>(i))] = n.warps[i];
  for (const auto& launch : n.launches) {
    launches.push_back({{"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
                        {"block", {launch.block.x, launch.block.y, launch.block.z}},
                        {"launches", launch.times},
                        {"resident_warps", launch.resident_warps}});
  }
  return {{"configurations", launches},
          {"instructions", by_pipe},
          {"global_load_sectors", n.load_sectors},
          {"global_store_sectors", n.store_sectors},
          {"local_sectors", n.local_sectors},
          {"shared_load_wavefronts", n.shared_load_wavefronts},
          {"shared_wavefronts", n.shared_wavefronts}};
}

json reading_json(const limit_reading& r, bool is_certain) {
  return {{"verdict", name_of(r.found)},
          {"certain", is_certain},
          {"full_ms", r.full_ms},
          {"sum_ms", r.sum_ms},
          {"longest_ms", r.longest_ms},
          {"overlap", r.overlap ? json(*r.overlap) : json(nullptr)},
          {"parts", r.parts},
          {"text", in_words(r)}};
}

json program_json(const program& p) {
  json j = {{"part", p.part},
            {"subject", p.source.shown},
            {"class", name_of(p.found.what)},
            {"message", p.found.message}};
  j["counts"] = p.found.ok() ? counts_json(p.counts) : json(nullptr);
  j["doubts"] = p.doubted;
  const bool modelled = p.timed == nullptr && p.m.timed();
  j["time_ms"] = p.timed || modelled ? json(p.time_ms()) : json(nullptr);
  j["time_kind"] = p.timed ? "measured" : modelled ? "modelled" : "none";
  j["time_low_ms"] = p.timed ? json(p.timed->cold.range_ms.low) : json(nullptr);
  j["time_high_ms"] = p.timed ? json(p.timed->cold.range_ms.high) : json(nullptr);
  return j;
}

json recorded_json(const std::optional<recorded_limits>& r) {
  if (!r) return nullptr;
  json j = {{"gpu", r->gpu}, {"step", r->step}, {"size", r->size}};
  j["programs"] = json::array();
  j["programs"].push_back({{"part", "full"}, {"time_ms", r->full_ms}});
  for (const part_time& p : r->parts)
    j["programs"].push_back({{"part", p.part}, {"time_ms", p.time_ms}});
  j["reading"] = reading_json(r->reading, r->is_certain);
  return j;
}

void show_table(context& c, const std::vector<column>& columns,
                const std::vector<std::vector<cell>>& rows) {
  c.table(columns, rows);
  c.say();
}

// "64", or "48 to 64" if kernels differ.
std::string warps_text(const limit_counts& n) {
  if (n.launches.empty()) return "none";
  const auto [least, most] = std::minmax_element(
      n.launches.begin(), n.launches.end(),
      [](const auto& a, const auto& b) { return a.resident_warps < b.resident_warps; });
  return least->resident_warps == most->resident_warps
             ? std::to_string(most->resident_warps)
             : fmt::format("{} to {}", least->resident_warps, most->resident_warps);
}

void show_counts(context& c, const dissection& e) {
  std::vector<column> columns = {{"counted, " + without_seed(e.counted_at)}};
  for (const auto& p : e.all) columns.push_back({p.part, true});
  std::vector<std::vector<cell>> rows;
  const auto row = [&](const std::string& label, auto value) {
    std::vector<cell> cells = {{label}};
    bool any = false;
    for (const auto& p : e.all) {
      const std::uint64_t n = value(p.counts);
      any = any || n > 0;
      cells.push_back({count_text(static_cast<double>(n)), n > 0 ? tone::plain : tone::dim});
    }
    if (any) rows.push_back(cells);
  };
  for (int i = 0; i < pipes; ++i)
    row(std::string(name_of(static_cast<pipe>(i))) + " instructions",
        [i](const limit_counts& n) { return n.warps[i]; });
  row("global sectors loaded", [](const limit_counts& n) { return n.load_sectors; });
  row("global sectors stored", [](const limit_counts& n) { return n.store_sectors; });
  row("local sectors", [](const limit_counts& n) { return n.local_sectors; });
  row("shared wavefronts", [](const limit_counts& n) { return n.shared_wavefronts; });
  rows.push_back({{"warps that fit"}});
  for (const auto& p : e.all) rows.back().push_back({warps_text(p.counts)});
  show_table(c, columns, rows);
  for (const auto& p : e.all)
    for (const auto& doubt : p.doubted)
      c.out.paragraph(p.part + ": " + doubt, 9, "  " + c.out.paint(tone::note, "doubt"));
  if (std::any_of(e.all.begin(), e.all.end(), [](const program& p) { return !p.doubted.empty(); }))
    c.say();
}

void show_times(context& c, const dissection& e) {
  const bool modelled = e.modelled();
  const std::string& label = modelled ? e.all[0].m.label : e.all[0].timed->label;
  c.say(c.out.paint(tone::strong, without_seed(label)) +
        (modelled ? ": modelled, " + e.all[0].m.gpu : ", cold L2"));
  std::vector<std::vector<cell>> rows;
  const auto share = [&](double ms) {
    return fmt::format("{:.0f} %", 100 * ms / e.all[0].time_ms());
  };
  const auto add = [&](const cell& part, const cell& what, const cell& time,
                       const std::string& range, double ms) {
    rows.push_back({part, what, time});
    if (!modelled) rows.back().push_back({range, tone::dim});
    rows.back().push_back({ms > 0 ? share(ms) : ""});
  };
  for (const auto& p : e.all) {
    const std::string what = p.what.empty() ? p.source.shown : p.what;
    if (modelled && !p.m.timed()) {
      add({p.part}, {what}, {"no time"}, "", 0);
      continue;
    }
    std::string range;
    if (!modelled)
      range = fmt::format("{} to {}", time_text(p.timed->cold.range_ms.low),
                          time_text(p.timed->cold.range_ms.high));
    add({p.part}, {what}, {time_text(p.time_ms()), tone::strong}, range, p.time_ms());
  }
  if (e.reading) {
    for (const auto& [part, what, ms] :
         {std::tuple("sum", "no overlap", e.reading->sum_ms),
          std::tuple("longest", "full overlap", e.reading->longest_ms)})
      add({part, tone::dim}, {what, tone::dim}, {time_text(ms)}, "", ms);
  }
  std::vector<column> columns = {{"part"}, {"remaining work", false, true}, {"time", true}};
  if (!modelled) columns.push_back({"95 % interval", true});
  columns.push_back({"share", true});
  show_table(c, columns, rows);
}

// Shows the course's measurement of the step, at the record's own size.
void show_recorded(context& c, const dissection& e) {
  if (!e.recorded) return;
  const recorded_limits& r = *e.recorded;
  std::string text = fmt::format("recorded, {}, {}: full {}", r.gpu, r.label, time_text(r.full_ms));
  for (const part_time& p : r.parts)
    text += fmt::format(", {} {} ({:.0f} %)", p.part, time_text(p.time_ms),
                        100 * p.time_ms / r.full_ms);
  c.say();
  c.out.paragraph(text + "; " + in_words(r.reading), 2, "  ", tone::dim);
}

void show_reading(context& c, const dissection& e) {
  if (!e.reading) {
    if (e.all.size() < 3)
      c.say("  to compute the overlap, give both parts: --memory FILE and --compute FILE");
    return;
  }
  c.say(fmt::format("  overlap  {} of the time that could overlap: (sum - full) / (sum - longest)",
                    overlap_text(*e.reading)));
  c.out.paragraph(in_words(*e.reading), 11, "  " + c.out.paint(tone::good, "reading"));
  if (!e.is_certain)
    c.out.paragraph(e.modelled()
                        ? "the error of the model is large enough to allow another conclusion"
                        : uncertain_words,
                    11, "  " + c.out.paint(tone::note, "but"));
  if (e.reading->full_ms < short_ms) {
    c.out.paragraph(
        "this call and its parts are so short that launch time dominates: choose a larger --size",
        11, "  " + c.out.paint(tone::note, "but"));
  }
}

void show(context& c, const lab& l, const dissection& e) {
  if (c.as_json) return;
  show_counts(c, e);
  for (const auto& p : e.all) {
    if (p.timed != nullptr || p.m.timed()) continue;
    c.out.paragraph(p.part + ": no time at " + p.m.label + ": " + p.m.why_no_time(), 9,
                    "  " + c.out.paint(tone::note, "model"));
  }
  if (e.all[0].timed == nullptr && !e.modelled()) return show_recorded(c, e);
  show_times(c, e);
  show_reading(c, e);
  show_recorded(c, e);
  if (!e.modelled()) return;
  c.say();
  c.out.paragraph(modelled_error_text(c, l, e.all[0].m), 2, "  ", tone::dim);
}

// Counts every program on the emulator, and checks that the parts really are parts.
void count(context& c, const lab& l, const problem& p, const std::optional<lab_size>& wanted,
           std::uint64_t seed, dissection& e) {
  const device_choice emulator = choose_device(device_request::emulated, c.where);
  for (auto& one : e.all) {
    const bool is_whole = &one == &e.all[0];
    auto counted =
        profile_program(l, p, one.source.program, figure_size(l, emulator, wanted), seed, emulator,
                        c.now(), is_whole ? outputs_are::compared : outputs_are::ignored);
    one.found = counted.found;
    e.counted_at = counted.label;
    if (!one.found.ok()) return;
    one.counts = counts_of(counted.kernels);
    if (!is_whole) one.doubted = doubts(e.all[0].counts, one.part, one.counts);
  }
}

void measure(context& c, const lab& l, const problem& p, const device_choice& device,
             const lab_size& size, std::uint64_t seed, dissection& e) {
  const file_lock lock(gpu_lock_file(device.state), waiting_for_gpu(c));
  std::vector<contender> parts;
  for (std::size_t i = 1; i < e.all.size(); ++i)
    parts.push_back({e.all[i].part, e.all[i].source.program});
  e.rows = time_limits(l, p, {"full", e.all[0].source.program}, parts, device, size, seed, c.now());
  std::vector<part_time> times;
  for (std::size_t i = 0; i < e.all.size(); ++i) {
    e.all[i].found = e.rows[i].found;
    if (!e.rows[i].found.ok()) return;
    e.all[i].timed = &e.rows[i].cells.at(0);
    const sample_summary& cold = e.all[i].timed->cold;
    if (i > 0) times.push_back({e.all[i].part, cold.median_ms, cold.range_ms});
  }
  if (times.size() < 2) return;
  e.reading = read_limits(e.all[0].timed->cold.median_ms, times);
  e.is_certain = is_certain(e.all[0].timed->cold.range_ms, times);
}

// Models the times without a GPU. A program without a time states the reason.
void model(context& c, const lab& l, const problem& p, const device_choice& emulator,
           const lab_size& size, std::uint64_t seed, dissection& e) {
  std::vector<part_time> times;
  const auto error = load_model_error(c.where.root, l, emulator.name);
  const double off = error ? error->median : limit_tolerance;
  const auto range = [&](double ms) { return interval{ms / (1 + off), ms / (1 - off)}; };
  for (auto& one : e.all) {
    one.m =
        model_program(l, p, one.source.program, size, seed, emulator, c.now(), seconds_for_a_part);
    const bool is_whole = &one == &e.all[0];
    if (is_whole && !one.m.timed()) return;
    if (!is_whole && one.m.timed())
      times.push_back({one.part, one.m.time_ms, range(one.m.time_ms)});
  }
  if (times.size() < 2 || times.size() + 1 < e.all.size()) return;
  e.reading = read_limits(e.all[0].m.time_ms, times);
  e.is_certain = is_certain(range(e.all[0].m.time_ms), times);
}

// Ends the command if a program failed. A failure in one of the course's parts is our error.
int report_failed(context& c, const dissection& e, const program& p) {
  const std::string message = p.part + ", " + p.source.shown + ": " + p.found.message;
  if (e.ours()) throw failure(exit_code::ours, message);
  check_report failed;
  failed.found = p.found;
  failed.found.message = message;
  failed.label = e.counted_at;
  show_finding(c, failed);
  return exit_code_of(p.found.what);
}

void record(context& c, const lab& l, const device_choice& device, const dissection& e) {
  const fs::path file = record_file(l, device.name, "limits");
  const auto kept = limits_record(l, device, e.step, e.rows, utc_now(), command_text(c));
  write_record(c.where.root / file, kept);
  say_recorded(c, file);
}

int limits(context& c, const limits_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  const auto wanted = parse_size(l, p, o.size);
  if (o.record && !o.gpu.empty())
    refuse("--gpu gives modelled times, but --record needs measured times: use only one of them");
  const auto emulated_gpu = wanted_gpu(c, o.gpu);
  const device_choice device = c.device();
  if (o.record) need_gpu_to_record(device);
  dissection e = assemble(c, l, o);
  json document = {
      {"lab", l.name}, {"subject", e.all[0].source.shown}, {"device", device_json(device)}};
  document["programs"] = json::array();
  document["reading"] = nullptr;
  if (emulated_gpu) document["machine_code"] = machine_code_of(*emulated_gpu);
  c.say(fmt::format("{} and its parts on {}", c.out.paint(tone::strong, e.all[0].source.shown),
                    device.text()));
  if (emulated_gpu) show_old_gpu_note(c, *emulated_gpu, l);
  c.say();
  for (const auto& one : e.all) {
    if (!one.source.program.empty()) continue;
    if (e.ours())
      throw failure(exit_code::environment, one.source.shown + " does not compile for " +
                                                machine_code_of(*emulated_gpu) + ": " +
                                                one.source.compile_errors.at(0));
    return report_compile_errors(c, one.source, document);
  }
  auto report = check_program(l, p, e.all[0].source.program, device, l.check, o.seed, c.now());
  if (e.ours() && emulated_gpu && !c.where.is_as_built)
    excuse_small_gpu(*emulated_gpu, report.found);
  document.update(check_json(report));
  if (!report.correct()) {
    if (c.as_json) c.print(document);
    show_finding(c, report);
    show_todos(c, l, e.all[0].source.shown);
    return exit_code_of(report.found.what);
  }
  count(c, l, p, device.gpu ? std::nullopt : wanted, o.seed, e);
  const auto failed = [&] {
    return std::find_if(e.all.begin(), e.all.end(),
                        [](const program& one) { return !one.found.ok(); });
  };
  if (device.gpu && failed() == e.all.end())
    measure(c, l, p, device, figure_size(l, device, wanted), o.seed, e);
  if (!device.gpu && failed() == e.all.end()) {
    model(c, l, p, device, wanted.value_or(modelled_size(l, *emulated_gpu)), o.seed, e);
    if (e.ours()) e.recorded = load_recorded_limits(c.where.root, l, device.name);
    if (e.recorded && e.recorded->step != e.step) e.recorded.reset();
    document["time_size"] = e.all[0].m.size;
    document["modelled_as"] = e.all[0].m.gpu;
    document["recorded"] = recorded_json(e.recorded);
  }
  for (const auto& one : e.all) document["programs"].push_back(program_json(one));
  if (e.reading) document["reading"] = reading_json(*e.reading, e.is_certain);
  document["counted"] = e.counted_at;
  if (failed() == e.all.end()) {
    show(c, l, e);
    if (o.record) record(c, l, device, e);
    if (c.as_json) c.print(document);
    return 0;
  }
  if (c.as_json && !e.ours()) c.print(document);
  return report_failed(c, e, *failed());
}

const verb limits_verb(
    {verb_place::group::more, 10}, "limits",
    "compare a step with parts of itself to find its bottleneck",
    "  ./lab limits matmul                      a step of the course and its parts\n"
    "  ./lab limits matmul --memory m.cu --compute c.cu  your file and your parts of it\n"
    "  ./lab limits matmul --step 07 --memory m.cu --compute c.cu  a step and your parts\n"
    "  ./lab limits matmul --gpu a100           modelled for another GPU; ./lab device --list\n"
    "  ./lab dev limits matmul --record         also record the result (GPU only)",
    [](arguments& takes, limits_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("--memory", o.memory, "the .cu file with only the memory accesses");
      takes.add("--compute", o.compute, "the .cu file with only the arithmetic");
      takes.add("--file", o.file, "the full kernel: a .cu file other than your own");
      takes.add_step("--step", o.step, "the full kernel: a solution step");
      takes.add("--size", o.size, "a size other than the lab's largest");
      takes.add("--seed", o.seed, "seed of the random inputs (7)");
      takes.add("--gpu", o.gpu, gpu_option_text);
      if (takes.for_authors())
        takes.flag("--record", o.record, "write solutions/LAB/measured/GPU.limits.jsonl");
    },
    limits);

}  // namespace
}  // namespace stepwise::cli
