// lab run: checks whether a program is correct, and shows the cost of one call.
#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/context.hpp"
#include "grader/cli/own_input/own_input.hpp"
#include "grader/cli/own_progress.hpp"
#include "grader/cli/recorded/choice.hpp"
#include "grader/cli/recorded/make.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/cli/text/term_line.hpp"
#include "grader/cli/verb.hpp"
#include "grader/measure/profiled.hpp"
#include "grader/model/modelled.hpp"
#include "grader/model/recorded_times.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/profile.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

struct run_options : own_input {
  std::string size, gpu;
  std::uint64_t seed = 7;
  bool counters = false;  // line by line, on the emulator
};

std::string again(const char* command_name, const run_options& o, const check_report& report) {
  std::string command = std::string("./lab ") + command_name + " " + o.lab;
  if (!o.file.empty()) command += " --file " + o.file;
  if (!o.step.empty()) command += " --step " + o.step;
  if (!o.gpu.empty() && command_name == std::string("run")) command += " --gpu " + o.gpu;
  if (report.size) command += " --size " + size_text(*report.size);
  return command + fmt::format(" --seed {}", report.seed);
}

struct known_finding {
  std::string text;       // empty if there is no finding
  bool is_cause = false;  // of a wrong result; otherwise, it only follows from a wrong result
  std::string hang;       // why the kernel never ends, if the checks proved that it does not
};

// A call at a check size rarely takes more time than this on the emulator.
constexpr double patience_s = 1;

// A call whose arrays hold more bytes than this is not repeated with checks.
constexpr double most_checked_bytes = 1 << 25;

// The worst finding of the checks, which often explains a wrong result. Checks the size that
// failed or was requested if it is small enough, or if it failed and its checks are quick.
// Otherwise, checks all small sizes. Returns nullopt after a failure that the checks cannot
// explain, or if the checks did not finish. `may_never_end`: the checks may explain a time limit,
// too.
std::optional<known_finding> finding_of_checks(context& c, const lab& l, const problem& p,
                                               const subject& s, bool may_never_end,
                                               std::optional<lab_size> size,
                                               const check_report& report) {
  const verdict found = report.found.what;
  // The emulator recognises most kernels that never end, so the checks end soon, too.
  const bool never_ends =
      may_never_end || report.found.message.find("deadlock") != std::string::npos;
  if ((found == verdict::timeout && !never_ends) || report.found.is_open() ||
      found == verdict::output)
    return {};
  if (!report.correct()) size = report.size;
  auto sizes = small_sizes(l, p);
  if (size && std::ranges::find(sizes, *size) != sizes.end()) sizes = {*size};
  const auto check_at = [&](const lab& limited, const std::vector<lab_size>& at) {
    return check_thoroughly(limited, p, s.program, choose_device(device_request::emulated, c.where),
                            at, report.seed, c.now());
  };
  const auto is_unfinished = [](const check_report& r) {
    return r.found.what == verdict::timeout || r.found.is_open();
  };
  std::optional<check_report> at_failed;
  if (!report.correct() && found != verdict::timeout && size && sizes.size() > 1 &&
      p.work(*size).bytes <= most_checked_bytes) {
    lab quick = l;
    quick.time_limit_s = std::min(2 * patience_s, l.time_limit_s);
    at_failed = check_at(quick, {*size});
    if (is_unfinished(*at_failed)) at_failed.reset();
  }
  auto checked = at_failed ? std::move(*at_failed) : check_at(l, sizes);
  // If all calls ended, every loop ends, and the checks are only slow on this machine.
  if (report.correct())
    std::erase_if(checked.findings,
                  [](const auto& f) { return f.what.kind == finding_kind::endless; });
  if (checked.findings.empty() && is_unfinished(checked)) return {};
  const std::string& message = checked.found.message;
  const bool is_proven = message.find(" never ends: ") != std::string::npos;
  return known_finding{worst_finding(checked.findings, c.where.root),
                       has_errors(deciding_findings(checked)), is_proven ? message : ""};
}

struct checked_calls {
  check_report report;
  std::optional<known_finding> finding;
};

// Calls the program at these sizes, and looks for the cause if a call fails. On the emulator, a
// call that takes long is first given to the checks, which prove at once that most hanging kernels
// never end.
checked_calls check_and_explain(context& c, const lab& l, const problem& p, const subject& s,
                                const device_choice& device, const std::optional<lab_size>& wanted,
                                std::uint64_t seed) {
  const auto sizes = wanted ? std::vector<lab_size>{*wanted} : l.check;
  const auto make = [&](const lab& limited, bool may_never_end) {
    checked_calls made;
    made.report = check_program(limited, p, s.program, device, sizes, seed, c.now());
    made.finding = finding_of_checks(c, limited, p, s, may_never_end, wanted, made.report);
    return made;
  };
  if (device.gpu) return make(l, true);
  lab impatient = l;
  impatient.time_limit_s = std::min(patience_s, l.time_limit_s);
  checked_calls first = make(impatient, true);
  if (first.report.found.what != verdict::timeout) return first;
  if (first.finding && !first.finding->hang.empty()) {
    first.report.found.message = first.finding->hang;
    return first;
  }
  if (l.time_limit_s <= patience_s) return first;
  checked_calls patient = make(l, false);
  if (patient.report.found.what == verdict::timeout && !patient.finding)
    patient.finding = first.finding;
  return patient;
}

// Shows a call that failed, its cause, and how to repeat it.
void show_failure(context& c, const lab& l, const subject& s, const run_options& o,
                  const check_report& failed, const std::optional<known_finding>& finding) {
  const bool is_explained = finding && !finding->text.empty();
  // The pattern of a wrong result is a guess, so it is shown after a known cause.
  check_report shown = failed;
  std::string looks;
  const std::string& message = failed.found.message;
  const auto end = message.find(failed.label + "); ");
  if (is_explained && finding->is_cause && failed.found.what == verdict::wrong &&
      end != std::string::npos) {
    looks = message.substr(end + failed.label.size() + 3);
    shown.found.message.resize(end + failed.label.size() + 1);
  }
  show_finding(c, shown);
  if (is_explained) {
    c.say();
    c.out.paragraph(finding->text, 11,
                    "  " + c.out.paint(tone::bad, finding->is_cause ? "cause" : "checks"));
  }
  if (!looks.empty()) {
    c.say();
    c.out.paragraph(looks, 11, "  " + c.out.paint(tone::dim, "result"));
  }
  const bool is_unfinished = show_todos(c, l, s.shown);
  if (!is_unfinished && finding && finding->text.empty() && failed.found.what == verdict::wrong) {
    c.say();
    c.out.paragraph("no race and no wrong address", 11, "  " + c.out.paint(tone::dim, "checks"));
  }
  c.say();
  c.say("  " + c.out.paint(tone::dim, "again    ") + again("run", o, failed));
  if (is_explained) c.say("  " + c.out.paint(tone::dim, "more     ") + again("check", o, failed));
}

// Counts one more call, line by line. It always uses the emulator; on a GPU, ncu does this.
profiled_call count_lines(context& c, const lab& l, const problem& p, const subject& s,
                          const std::optional<lab_size>& wanted, std::uint64_t seed) {
  const device_choice emulator = choose_device(device_request::emulated, c.where);
  return profile_program(l, p, s.program, figure_size(l, emulator, wanted), seed, emulator,
                         c.now());
}

// `shown` is a file or a step.
void show_lines(context& c, const lab& l, const std::string& shown, const profiled_call& counted) {
  c.say();
  if (!counted.found.ok()) {
    c.say("  " + c.out.paint(tone::note, "not counted: ") + counted.found.message);
    return;
  }
  c.say(fmt::format("  {}  {}", c.out.paint(tone::strong, "line by line"), counted.label));
  c.say();
  const std::string text = profile_shown(counted.kernels, c.out.style());
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    c.say(text.substr(at, end - at));
  c.say("  " + c.out.paint(tone::dim, "terms  ") + explain_text(terms_of(counted.kernels)));
  if (std::ranges::any_of(l.steps, [&](const step& s) { return s.name == shown && s.recording; }))
    c.say("  " + c.out.paint(tone::dim, "see    ") + play_command(l.name, shown));
}

// A student waits for the time.
constexpr double seconds_for_a_time = 20;

// Shows the modelled time next to the course's record of this step, or of the lab's last step.
void show_modelled(context& c, const modelled_figures& m, const lab& l, const std::string& step) {
  c.say();
  c.say(fmt::format("  one call at {}: modelled for an {}", m.label, m.gpu));
  if (!m.timed()) return c.out.paragraph("no time: " + m.why_no_time(), 4);
  c.say(fmt::format("    time  {}", c.out.paint(tone::strong, time_text(m.time_ms))));
  c.say(fmt::format("    rate  {}", c.out.paint(tone::strong, m.rate())));
  show_waste(c, m);
  const std::string& name = step.empty() ? l.last_step().name : find_step(l, step).name;
  const auto recorded = load_recorded_times(c.where.root, l, m.gpu).find(name, m.size);
  if (recorded) {
    c.say(c.out.paint(tone::dim, fmt::format("    {} was measured at {} on an {}",
                                             step.empty() ? "the last step, " + name + "," : name,
                                             time_text(*recorded), m.gpu)));
  }
  c.out.paragraph(modelled_error_text(c, l, m), 4, "    ", tone::dim);
}

int run(context& c, const run_options& o) {
  if (o.image) return run_picture(c, o);
  if (o.points) return run_points(c, o);
  if (!o.out.empty() || !o.stages.empty()) {
    throw failure(exit_code::usage,
                  "--out and --stages save the result for your own input: add --image FILE or "
                  "--points FILE");
  }
  const lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  const auto wanted = parse_size(l, p, o.size);
  const auto model = wanted_gpu(c, o.gpu);
  const device_choice device = c.device();
  const subject s = prepare(c, l, o.file, o.step);
  json document = {{"lab", l.name}, {"subject", s.shown}, {"device", device_json(device)}};
  if (model) document["machine_code"] = machine_code_of(*model);
  show_subject(c, s.shown, "on " + device.text());
  if (model) show_old_gpu_note(c, *model, l);
  c.say();
  document["compiler_warnings"] = warnings_json(s.warnings);
  if (s.program.empty()) {
    document["figures"] = nullptr;
    remember_own(c, l, s, "run", verdict::compile);
    return report_compile_errors(c, s, std::move(document));
  }
  show_warnings(c, s.warnings);
  warn_of_refusals(c, l, p, s.shown, document);
  const auto [report, finding] = check_and_explain(c, l, p, s, device, wanted, o.seed);
  document.update(check_json(report));
  document["printed"] = report.printed;
  document["figures"] = nullptr;
  document["finding"] = finding ? json(finding->text) : json();
  // A program that is correct at one size may fail at another.
  const bool has_finding = finding && !finding->text.empty();
  if (!wanted || !report.correct())
    remember_own(c, l, s, finding ? "check" : "run",
                 report.correct() && has_finding ? verdict::check : report.found.what);
  if (!report.correct()) {
    if (c.as_json) {
      c.print(document);
    } else {
      show_failure(c, l, s, o, report, finding);
    }
    return exit_code_of(report.found.what);
  }
  c.say(fmt::format("  {}  {}", c.out.paint(tone::good, "correct"), right_text(c, report)));
  if (has_finding)
    c.out.paragraph(finding->text + " (`./lab check " + l.name +
                        (o.file.empty() ? "" : " --file " + o.file) + "` shows more)",
                    11, "  " + c.out.paint(tone::bad, "checks"));
  const auto f =
      measure_program(l, p, s.program, device, figure_size(l, device, wanted), o.seed, c.now());
  document["figures"] = figures_json(f);
  std::optional<modelled_figures> modelled;
  if (!device.gpu && f.found.ok()) {
    modelled = model_program(l, p, s.program, wanted ? *wanted : modelled_size(l, *model), o.seed,
                             device, c.now(), seconds_for_a_time);
    modelled->drop_doubtful_time();
    document["figures"].update(modelled_json(*modelled));
  }
  if (!f.found.ok()) {
    document["class"] = name_of(f.found.what);
    document["message"] = f.found.message;
    document["correct"] = false;
  }
  std::optional<profiled_call> counted;
  if (o.counters && f.found.ok()) {
    counted = count_lines(c, l, p, s, wanted, o.seed);
    document["kernels"] = profile_document(counted->kernels);
  }
  if (c.as_json) {
    c.print(document);
    return exit_code_of(f.found.what);
  }
  if (!f.found.ok()) {
    check_report failed;
    failed.found = f.found;
    failed.label = f.label;
    failed.printed = f.printed;
    failed.size = figure_size(l, device, wanted);
    failed.seed = o.seed;
    show_failure(c, l, s, o, failed, {});
    return exit_code_of(f.found.what);
  }
  c.say();
  show_figures(c, f, device);
  if (modelled) show_modelled(c, *modelled, l, o.step);
  if (counted) {
    show_lines(c, l, s.shown, *counted);
    // The lines may fill more than a screen, so the verdict is repeated at the end.
    c.say();
    c.say(fmt::format(
        "  {}  {}{}", c.out.paint(tone::good, "correct"), right_text(c, report),
        modelled && modelled->timed() ? "; " + time_text(modelled->time_ms) + " (modelled)" : ""));
  }
  show_printed(c, report.printed);
  if (s.shown == l.file.string()) show_next(c, l);
  return 0;
}

const verb run_verb(
    {verb_place::group::write, 20}, "run", "test your kernel and show the cost of a call",
    "  ./lab run reduction                      your file, all check sizes\n"
    "  ./lab run reduction --size 1023 --seed 7 one size again\n"
    "  ./lab run reduction --step 03            a worked solution\n"
    "  ./lab run reduction --file try.cu        another file\n"
    "  ./lab run reduction --step 02 --counters the cost of each line\n"
    "  ./lab run reduction --gpu t4             modelled for another GPU; ./lab device --list\n"
    "  ./lab run blur --image me.png --out edges.png  your own picture\n"
    "  ./lab run neighbour --points mine.xyz    your own points",
    [](arguments& takes, run_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add_step("--step", o.step, "a solution step instead of a file");
      const auto size = takes.add("--size", o.size, "one size only, like 1023 or 512x256");
      const auto seed = takes.add("--seed", o.seed, "seed of the random inputs (7)");
      const auto counters =
          takes.flag("--counters", o.counters,
                     "show sectors, bank conflicts, cache hits and divergence, line by line");
      auto image = takes.add("--image", o.image, "a picture to run on: PNG, PPM (P6) or PGM (P5)");
      auto points =
          takes.add("--points", o.points, "a file of points to run on: three numbers per line");
      const auto other_gpu = takes.add("--gpu", o.gpu, gpu_option_text);
      takes.add("--out", o.out,
                "the output file: .png, .ppm or .pgm for a picture, any name for points");
      takes.add("--stages", o.stages,
                "a folder for the picture, each stage of the reference, the result and the "
                "difference");
      image.excludes(points);
      for (const auto& other : {size, seed, counters, other_gpu}) {
        image.excludes(other);
        points.excludes(other);
      }
    },
    run);

}  // namespace
}  // namespace stepwise::cli
