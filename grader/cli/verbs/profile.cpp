// lab profile: the lectures' guided analysis of one call, by the time model.
#include "grader/report/profile.hpp"

#include <fmt/core.h>

#include "common/timeline/transfer_rates.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/profile/hardware.hpp"
#include "grader/cli/profile/metrics_text.hpp"
#include "grader/cli/profile/timeline_text.hpp"
#include "grader/cli/text/analysis_text.hpp"
#include "grader/cli/text/comparison_text.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/cli/text/glossary.hpp"
#include "grader/cli/text/roofline_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/measure/worth.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct profile_options {
  std::string lab, step, file, size, gpu, source;
  std::uint64_t seed = 7;
  std::string svg, trace;
  bool timeline = false;
  bool experiment = false, roofline = false, csv = false, glossary = false, markdown = false;
  std::vector<std::string> compare, metrics;

  bool records_calls() const { return timeline || !trace.empty(); }
  bool lists_metrics() const { return metrics.size() == 1 && metrics[0] == "list"; }
};

// A student waits for a call. Steps that only serve the advice get less time.
constexpr double seconds_for_a_call = 60, seconds_for_advice = 15;

// Data that the command's modelled calls share.
struct session_of_profiles {
  context& c;
  const lab& l;
  const problem& p;
  lab_size size;
  std::uint64_t seed;
  gpu model;
  device_choice emulator;
  recorded_times recorded;
  std::string counted_by;  // "ncu 2025.3.1.0"; empty: modelled
  std::string why_model;   // why ncu, which has priority, was not used

  modelled_figures call(const fs::path& program, double patience_s, what_ifs experiments) const {
    auto m = model_program(l, p, program, size, seed, emulator, c.now(), patience_s, experiments);
    m.gpu = model.name;
    m.drop_doubtful_time();
    return m;
  }
};

// Measured peaks if there are any, otherwise published peaks.
machine_peaks peaks_of(const gpu& model) {
  const auto measured = [&](const char* name) {
    const auto found = model.measured.find(name);
    return found != model.measured.end() ? found->second : 0;
  };
  constexpr int schedulers = 4;
  constexpr double bytes_of_l1_pipe = 128;  // per clock
  const double clocks = 1e3 * model.clock_khz * model.multiprocessors;
  machine_peaks peaks;
  peaks.instructions = schedulers * clocks;
  peaks.l1_pipe_bytes = bytes_of_l1_pipe * clocks;
  peaks.flops = 1e12 * measured("peak_fma_f32");
  peaks.l2_bytes = 1e9 * measured("l2_read");
  peaks.dram_bytes = 1e9 * measured("dram_read");
  if (const auto theoretical = theoretical_rates(model)) {
    if (peaks.flops <= 0) peaks.flops = theoretical->flops_per_s;
    if (peaks.dram_bytes <= 0) peaks.dram_bytes = theoretical->bytes_per_s;
  }
  return peaks;
}

std::vector<roofline> rooflines_of(const session_of_profiles& s, const profile_view& v) {
  const machine_peaks peaks = peaks_of(s.model);
  std::vector<roofline> all;
  if (v.m->work.operations > 0)
    all.push_back(
        operations_roofline(v.m->kernels, v.m->work.operations, v.m->work.operation_unit, peaks));
  all.push_back(instruction_roofline(v.costliest, peaks));
  return all;
}

// Empty if the call has no time, for any reason, because it only serves the advice.
std::vector<kernel_profile> model_step(const session_of_profiles& s, const step& one) {
  const subject of = prepare(s.c, s.l, "", one.name);
  if (of.program.empty()) return {};
  const auto m = s.call(of.program, seconds_for_advice, what_ifs::left_out);
  return m.timed() ? m.kernels : std::vector<kernel_profile>{};
}

profile_view view_of_call(const session_of_profiles& s, const modelled_figures& m, const step* at) {
  profile_view v = view_of(m, *ranked(m.kernels).front(), s.model);
  v.of = &s.l;
  v.recorded = &s.recorded;
  v.at = at;
  v.counted_by = s.counted_by;
  return v;
}

void add_advice(const session_of_profiles& s, profile_view& v) {
  if (!s.l.is_worked) return;  // a student copy has neither the steps nor their times
  constexpr double clearly = 0.9;
  const auto is_faster = [&](const step& one) {
    const auto ms = s.recorded.find(one.name, s.size);
    return !ms || *ms < clearly * v.m->time_ms;
  };
  // Comparing modelled steps with a measured call would mix two effects.
  v.next = suggest(steps_after(s.l, v.at, is_faster), v.found, v.m->kernels, [&](const step& one) {
    return s.counted_by.empty() ? model_step(s, one) : std::vector<kernel_profile>{};
  });
}

void show(context& c, const std::vector<std::string>& lines) {
  c.say();
  for (const auto& line : lines) c.say(line);
}

void show_head(const session_of_profiles& s, const std::string& what, const modelled_figures& m) {
  if (s.c.as_json) return;
  s.c.busy.clear();
  if (!s.why_model.empty())
    s.c.out.paragraph(s.why_model + "; this profile is from the time model instead", 0, {},
                      tone::note);
  s.c.out.paragraph(
      fmt::format("{}, one call at {}: {}, {}", what, m.label,
                  s.counted_by.empty() ? "modelled" : "measured by " + s.counted_by, s.model.name),
      0, {}, tone::strong);
}

// A wrong result makes every figure doubtful, so it is shown before the figures.
check_report check_result(const session_of_profiles& s, const subject& of) {
  return check_program(s.l, s.p, of.program, s.emulator, s.l.check, s.seed, s.c.now());
}

void warn_if_wrong(const session_of_profiles& s, const check_report& report) {
  if (report.correct()) return;
  s.c.say();
  s.c.out.paragraph(
      fmt::format("The result is {}, so these figures may change once it is right. `./lab run {}` "
                  "shows the mistake.",
                  name_of(report.found.what), s.l.name),
      11, "  " + s.c.out.paint(tone::note, "warning"));
}

// Reports it if most of the call is outside its kernels, where the analysis of kernels cannot help.
// Allocations are named if they take more than half of that time.
void show_share_of_kernels(const session_of_profiles& s, const modelled_figures& m) {
  constexpr double little = 0.2;  // even free kernels would speed the call up by only 1.25x
  double kernels_ms = 0;
  for (const kernel_profile& k : m.kernels) kernels_ms += k.timing.us / 1e3;
  const double share = kernels_ms / m.time_ms;
  if (!m.with_copies || share > little) return;
  s.c.say();
  const transfer_rates rates = rates_of(s.model);
  const double allocating_ms =
      static_cast<double>(m.transfers.allocations) * (rates.allocate_us + rates.release_us) / 1e3;
  const bool allocates = 2 * allocating_ms > m.time_ms - kernels_ms;
  s.c.out.paragraph(
      fmt::format("{:.0f} % of the call is spent outside its kernels, mostly in {}. The kernels "
                  "take {} of {}, so a faster kernel gains little.",
                  100 * (1 - share),
                  allocates ? fmt::format("{} allocations of device memory: allocate once, before "
                                          "any loop, and reuse the memory",
                                          m.transfers.allocations)
                            : "copies between host and device",
                  time_text(kernels_ms), time_text(m.time_ms)),
      11, "  " + s.c.out.paint(tone::note, allocates ? "memory" : "copies"));
}

// Shows how accurate the figures are.
void show_origin(const session_of_profiles& s, const modelled_figures& m) {
  s.c.say();
  if (!s.counted_by.empty())
    return s.c.out.paragraph(
        "hardware counters, kernel by kernel, with caches flushed before each; stalls by line are "
        "sampled, and the instruction they wait for is unknown",
        0, "", tone::dim);
  s.c.out.paragraph(s.model.measured.empty()
                        ? "modelled from published figures of the " + s.model.name +
                              ", not compared with measured times"
                        : modelled_error_text(s.c, s.l, m),
                    0, "", tone::dim);
  if (const std::string note = old_gpu_note(s.model, s.l); !note.empty())
    s.c.out.paragraph(note, 0, "", tone::dim);
}

int report_failed_call(context& c, const modelled_figures& m, json document) {
  if (c.as_json) {
    c.print(document);
  } else {
    check_report failed;
    failed.found = m.found;
    failed.label = m.label;
    show_finding(c, failed);
    if (m.found.what == verdict::timeout)
      c.out.paragraph("if every loop ends, try a smaller call: --size", 11, {}, tone::dim);
  }
  return exit_code_of(m.found.what);
}

// A call without a time still has counters.
void show_counts(context& c, const modelled_figures& m) {
  c.say();
  c.out.paragraph("The call has no time. These are the counters of the blocks that ran:", 0);
  c.say();
  const std::string text = profile_shown(m.kernels, c.out.style());
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    c.say(text.substr(at, end - at));
}

json document_of(const session_of_profiles& s, const subject& of, const step* at,
                 const modelled_figures& m) {
  json document = {{"lab", s.l.name},
                   {"subject", of.shown},
                   {"step", at != nullptr ? json(at->name) : json(nullptr)},
                   {"device", device_json(s.emulator)},
                   {"machine_code", machine_code_of(s.model)},
                   {"class", name_of(m.found.what)},
                   {"message", m.found.message},
                   {"seed", s.seed}};
  document.update(modelled_json(m));
  document["source"] = s.counted_by.empty() ? "model" : s.counted_by;
  document["why_not_ncu"] = s.why_model.empty() ? json(nullptr) : json(s.why_model);
  if (!s.counted_by.empty() && m.timed()) document["time_kind"] = "measured";
  const auto recorded = at != nullptr ? s.recorded.find(at->name, s.size) : std::nullopt;
  document["recorded_ms"] = recorded ? json(*recorded) : json(nullptr);
  return document;
}

// A step, or `mine` for the student's file.
struct compared_call {
  const step* at = nullptr;
  std::string name;
  modelled_figures m;
};

compared_call call_to_compare(const session_of_profiles& s, const std::string& name) {
  compared_call one;
  if (name != "mine") one.at = &worked_step(s.l, name);
  const subject of = prepare(s.c, s.l, "", one.at != nullptr ? one.at->name : "");
  if (of.program.empty())
    throw failure(exit_code::student,
                  of.shown + " does not compile; `./lab run " + s.l.name + "` shows the errors");
  one.name = one.at != nullptr ? of.shown : "mine";
  one.m = s.call(of.program, seconds_for_a_call, what_ifs::left_out);
  if (!one.m.found.ok()) {
    const int code = exit_code_of(one.m.found.what);
    throw failure(static_cast<exit_code>(code),
                  of.shown + " at " + one.m.label + ": " + one.m.found.message);
  }
  if (!one.m.timed())
    throw failure(exit_code::student,
                  of.shown + " has no time at " + one.m.label + ": " + one.m.why_no_time());
  return one;
}

int compare_two(const session_of_profiles& s, const std::vector<std::string>& names) {
  context& c = s.c;
  const compared_call before = call_to_compare(s, names[0]), after = call_to_compare(s, names[1]);
  const call_comparison both = compare(before.m.kernels, after.m.kernels, s.model.multiprocessors);
  const auto recorded = [&](const compared_call& one) {
    return one.at != nullptr ? s.recorded.find(one.at->name, s.size) : std::nullopt;
  };
  if (c.as_json) {
    json document = {{"lab", s.l.name},
                     {"device", device_json(s.emulator)},
                     {"seed", s.seed},
                     {"time_size", s.size},
                     {"modelled_as", s.model.name}};
    const auto end = [&](const compared_call& one, const kernel_analysis& a) {
      const auto ms = recorded(one);
      return json{{"subject", one.name},
                  {"time_ms", one.m.time_ms},
                  {"recorded_ms", ms ? json(*ms) : json(nullptr)},
                  {"analysis", analysis_json(a)}};
    };
    document["before"] = end(before, both.before);
    document["after"] = end(after, both.after);
    document["figures"] = comparison_json(both);
    c.print(document);
    return 0;
  }
  show_head(s, before.name + " and " + after.name, before.m);
  show(c, comparison_lines(both, {before.name, after.name, recorded(before), recorded(after)},
                           c.out.style()));
  show_origin(s, before.m);
  return 0;
}

int show_glossary(context& c, bool as_markdown) {
  if (c.as_json) {
    c.print({{"glossary", glossary_json()}});
  } else if (as_markdown) {
    c.say(std::string(glossary_text.substr(0, glossary_text.size() - 1)));
  } else {
    for (const auto& line : glossary_lines(c.out.style())) c.say(line);
  }
  return 0;
}

int show_metric_list(context& c) {
  if (c.as_json) c.print({{"metrics", metric_list_json()}});
  for (const auto& line : metric_list(c.out.style())) c.say(line);
  return 0;
}

// Makes the call and records its runtime calls. The program inherits the variable.
modelled_figures call_with_timeline(const session_of_profiles& s, const fs::path& program,
                                    const fs::path& file) {
  setenv("STEPWISE_TIMELINE", file.c_str(), 1);
  auto m = s.call(program, seconds_for_a_call, what_ifs::left_out);
  unsetenv("STEPWISE_TIMELINE");
  return m;
}

int show_timeline(context& c, const profile_options& o, const session_of_profiles& s,
                  const shown_timeline& times, const modelled_figures& m, json document) {
  if (!o.trace.empty()) write_atomically(o.trace, trace_text(times));
  if (c.as_json) {
    document["timeline"] = timeline_json(times);
    c.print(document);
    return 0;
  }
  show(c, timeline_lines(times, c.out.style()));
  if (!o.trace.empty()) c.say("  " + o.trace + " opens in https://ui.perfetto.dev");
  show_origin(s, m);
  return 0;
}

// Figures from the requested source. `s` records which source it was.
modelled_figures figures_from(const profile_sources& sources, session_of_profiles& s,
                              const profile_options& o, const fs::path& program,
                              const device_choice& own) {
  if (sources.ncu && s.why_model.empty()) try {
      measured_call call = call_under_ncu(s.c, s.p, program, s.size, s.seed, own, s.model);
      s.counted_by = call.counted_by;
      s.emulator = call.device;
      return std::move(call.m);
    } catch (const interrupted&) {
      throw;
    } catch (const failure& why) {
      if (!sources.model || why.code() != exit_code::environment) throw;
      const std::string words = why.what();
      s.why_model = words.substr(0, words.find('\n'));
    }
  return s.call(program, seconds_for_a_call,
                o.metrics.empty() ? what_ifs::modelled : what_ifs::left_out);
}

// Shows only the requested metrics, for every kernel of a call that has a time.
int show_metrics(context& c, const profile_options& o, const session_of_profiles& s,
                 const modelled_figures& m, json document) {
  const auto wanted = wanted_metrics(o.metrics);
  std::vector<kernel_analysis> kernels;
  for (const kernel_profile* k : ranked(m.kernels))
    kernels.push_back(analyse(*k, 1000 * m.time_ms, s.model.multiprocessors));
  if (c.as_json) {
    document["metrics"] = metric_json(kernels, wanted);
    c.print(document);
  } else if (o.csv) {
    for (const auto& line : metric_csv(kernels, wanted)) c.say(line);
  } else {
    show(c, metric_lines(kernels, wanted, c.out.style()));
    show_origin(s, m);
  }
  return 0;
}

int profile(context& c, const profile_options& o) {
  if (o.glossary || o.markdown) return show_glossary(c, o.markdown);
  if (o.lists_metrics()) return show_metric_list(c);
  if (!o.metrics.empty()) (void)wanted_metrics(o.metrics);
  if (o.records_calls() && (!o.compare.empty() || !o.metrics.empty() || o.csv))
    refuse("--timeline and --trace show one call: leave out --compare, --metrics and --csv");
  if (!o.trace.empty()) require_writable(fs::absolute(o.trace));
  if (o.lab.empty())
    refuse("name a lab, for example ./lab profile reduction; `./lab list` lists the labs");
  if (!o.file.empty() && !o.step.empty())
    refuse("STEP and --file exclude each other: use only one of them");
  if (c.request == device_request::gpu)
    refuse("--device gpu: this profile is modelled; --source ncu measures a profile on a GPU");
  const auto sources = profile_sources::parse(o.source);
  if (sources.ncu && (o.experiment || !o.compare.empty() || o.records_calls() || !o.gpu.empty()))
    refuse(
        "--source ncu counts one call on this machine's GPU: leave out --experiment, --compare, "
        "--timeline, --trace and --gpu");
  if (!o.compare.empty() && o.compare.size() != 2)
    refuse("--compare takes two steps, or a step and mine: ./lab profile " + o.lab +
           " --compare 02 03");
  if (!o.compare.empty() && (!o.step.empty() || !o.file.empty() || o.experiment))
    refuse("--compare names both sides: leave out STEP, --file and --experiment");
  const lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  const auto size = parse_size(l, p, o.size);
  const step* const at = o.step.empty() ? nullptr : &worked_step(l, o.step);
  const device_choice own = sources.ncu ? c.device() : device_choice{};
  profile_options of_own = o;
  std::string why_model;
  if (sources.ncu) try {
      of_own.gpu = id_of_own_gpu(own);
    } catch (const failure& why) {
      if (!sources.model) throw;
      why_model = std::string(why.what()).substr(0, std::string(why.what()).find('\n'));
    }
  const gpu model = stand_for(c, of_own.gpu);
  device_choice emulator = choose_device(device_request::emulated, c.where);
  emulator.name = model.name;
  session_of_profiles s{
      c,      l,        p,        size.value_or(modelled_size(l, model)),
      o.seed, model,    emulator, load_recorded_times(c.where.root, l, model.name),
      "",     why_model};
  if (!o.compare.empty()) return compare_two(s, o.compare);
  const subject of = prepare(c, l, o.file, o.step);
  if (of.program.empty())
    return report_compile_errors(c, of, {{"lab", l.name}, {"subject", of.shown}});
  const temporary_folder folder(fs::temp_directory_path());
  const modelled_figures m = o.records_calls()
                                 ? call_with_timeline(s, of.program, folder.path() / "timeline")
                                 : figures_from(sources, s, o, of.program, own);
  json document = document_of(s, of, at, m);
  if (!o.csv || !m.found.ok()) show_head(s, of.shown, m);
  if (!m.found.ok()) return report_failed_call(c, m, std::move(document));
  if (m.kernels.empty())
    throw failure(exit_code::student,
                  of.shown + " launches no kernel at " + m.label + ": there is nothing to profile");
  if (!m.timed()) {
    if (!m.doubt.empty() && !c.as_json && !o.csv) show_counts(c, m);
    throw failure(m.doubt.empty() ? exit_code::ours : exit_code::student,
                  of.shown + " has no time at " + m.label + ": " + m.why_no_time());
  }
  if (o.records_calls())
    return show_timeline(c, o, s, read_timeline(folder.path() / "timeline", of.shown, s.model), m,
                         std::move(document));
  if (!o.metrics.empty()) return show_metrics(c, o, s, m, std::move(document));
  profile_view v = view_of_call(s, m, at);
  const std::vector<roofline> roofs = rooflines_of(s, v);
  if (!o.svg.empty())
    write_atomically(o.svg, roofline_svg(roofs, of.shown + ": modelled, " + model.name));
  const bool guided = !o.experiment && !o.roofline && !o.csv;
  if (guided) add_advice(s, v);
  const check_report result = at == nullptr ? check_result(s, of) : check_report{};
  if (at == nullptr) document["correct"] = result.correct();
  if (c.as_json) {
    document["kernels"] = profile_document(m.kernels);
    document["analysis"] = analysis_json(v.costliest);
    document["advice"] = advice_json(v);
    document["rooflines"] = json::array();
    for (const roofline& r : roofs) document["rooflines"].push_back(roofline_json(r));
    c.print(document);
    return 0;
  }
  if (o.csv) {
    for (const auto& line : profile_csv(v, s.model.multiprocessors)) c.say(line);
    return 0;
  }
  const terminal_style& style = c.out.style();
  if (o.experiment) show(c, experiment_lines(v, style));
  if (o.roofline)
    for (const roofline& r : roofs) show(c, roofline_lines(r, style));
  if (o.roofline && v.costliest.kernel->timing.counted < 1) {
    c.say();
    c.out.paragraph(
        "Bytes are estimated from the part of the launch that ran. If blocks share data, the whole "
        "launch reads less from DRAM per operation, so its point lies further to the right.",
        2, "  ", tone::dim);
  }
  if (at == nullptr) warn_if_wrong(s, result);
  if (guided) {
    show_share_of_kernels(s, m);
    show(c, kernel_lines(v, style));
    show(c, limit_lines(v, style));
    show(c, branch_lines(v, style));
    show(c, advice_lines(v, style));
  }
  show_origin(s, m);
  return 0;
}

const verb profile_verb(
    {verb_place::group::examine, 10}, "profile",
    "find the bottleneck of a kernel and the line that causes it",
    "  ./lab profile reduction                    your file\n"
    "  ./lab profile reduction 02                 a worked solution\n"
    "  ./lab profile transpose --file try.cu --size 1024x1024\n"
    "  ./lab profile reduction 02 --experiment    the gain without bank conflicts, for example\n"
    "  ./lab profile --glossary                   the meaning of the profilers' metrics\n"
    "  ./lab profile matmul 03 --roofline         the roofline; --svg FILE writes a picture\n"
    "  ./lab profile reduction --compare 02 03    side by side; mine is your file\n"
    "  ./lab profile reduction 02 --metrics ipc,gld_efficiency,achieved_occupancy\n"
    "  ./lab profile --metrics list               all metrics",
    [](arguments& takes, profile_options& o) {
      takes.add("LAB", o.lab, "the lab's name");
      takes.add_step("STEP", o.step, "a solution step instead of your file");
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add("--size", o.size, "the call's size, like 1048576 or 512x256");
      takes.add("--seed", o.seed, "seed of the random inputs (7)");
      takes.add("--gpu", o.gpu,
                "the GPU: a name from common/gpus/, or a file in that format (h200)");
      takes.add("--source", o.source,
                "model (default), ncu (a GPU's counters), or ncu,model (the first that works)");
      takes.add("--compare", o.compare, "compare two steps, or a step and mine (your file)");
      takes.add("--svg", o.svg, "the output file for a picture of the rooflines");
      takes.flag("--roofline", o.roofline,
                 "plot operations per second over operations per byte moved");
      takes.flag("--timeline", o.timeline, "show calls, copies and kernels, stream by stream");
      takes.add("--trace", o.trace, "the output file for the timeline, which Perfetto opens");
      takes.flag("--csv", o.csv, "print one line of figures per kernel");
      takes
          .add("--metrics", o.metrics,
               "show only these metrics, by the names of lab, nvprof or ncu; or list")
          .split_at_commas()
          .one_a_time();
      takes.flag("--glossary", o.glossary, "explain the metrics of old and new profilers");
      takes.flag("--markdown", o.markdown,
                 "print the glossary as Markdown, as in grader/GLOSSARY.md");
      takes.flag("--experiment", o.experiment, "model the time with one thing changed");
    },
    profile);

}  // namespace
}  // namespace stepwise::cli
