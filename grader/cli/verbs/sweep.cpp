// lab sweep: checks, counts and times one version in many configurations, on a GPU or with the time
// model.
#include "grader/measure/sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>

#include "common/device/engine_settings.hpp"
#include "common/device/gpu.hpp"
#include "common/report/profile_text.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/cli/text/sweep_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/measure/handout_tables.hpp"
#include "grader/measure/sweep_summary.hpp"
#include "grader/model/modelled.hpp"
#include "grader/model/recorded_times.hpp"
#include "grader/model/sweep_times.hpp"
#include "grader/report/profile.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct sweep_options {
  std::string lab, step, file, size, counter, gpu, record;
  std::vector<std::string> over;
  std::uint64_t seed = 7;
};

constexpr std::size_t most_messages = 8;  // of failed configurations
constexpr std::size_t most_listed = 8;    // values of an axis
// The limit for one call of one configuration. A sweep may have many configurations.
constexpr double seconds_for_a_point = 20;

// The subject of the sweep, and how to sweep it.
struct chosen_sweep {
  sweep_subject subject;
  std::string step;  // empty if the file is not a step
  std::vector<std::string> over;
  const experiment* of = nullptr;
  const goal_counter* counter = nullptr;
};

fs::path step_or_experiment(const lab& l, chosen_sweep& chosen, const std::string& name) {
  chosen.of = l.sweeps.find(name);
  if (chosen.of != nullptr) {
    if (!l.is_worked && !chosen.of->is_given)
      refuse("the experiment " + name +
             " is not in this student copy, because it contains a step's solution");
    return l.experiment_file(name);
  }
  try {
    return worked_step(l, name).file;
  } catch (const failure& error) {
    std::string names;
    for (const auto& e : l.sweeps.experiments)
      if (l.is_worked || e.is_given) names += " " + e.name;
    const std::string message =
        error.what() + (names.empty() ? "" : "\nits experiments are" + names);
    throw failure(error.code(), message + "\n`mine` is your file");
  }
}

std::string overs_of(const sweep_subject& subject) {
  std::string text = "choose what to vary: --over NAME=VALUES, like --over ";
  text += subject.constants.empty() ? "registers=none,64,32" : subject.constants[0].name + "=1..8";
  if (subject.constants.empty()) return text + "\n" + subject.shown + " has no constants";
  text += "\nthe constants of " + subject.shown + " are";
  for (const auto& constant : subject.constants)
    text += "\n  " + constant.name + " = " + constant.value;
  return text;
}

// For a student's file, if nothing else is requested: the lab's usual axes for which it has
// constants, or otherwise caps on its registers.
std::vector<std::string> overs_of_own(const lab& l, const sweep_subject& subject) {
  std::vector<std::string> overs;
  if (l.sweeps.standard)
    std::ranges::copy_if(l.sweeps.standard->over, std::back_inserter(overs),
                         [&](const std::string& over) {
                           return std::ranges::any_of(subject.constants, [&](const auto& constant) {
                             return over.starts_with(constant.name + "=");
                           });
                         });
  if (overs.empty()) overs.push_back("registers=none,64,32");
  return overs;
}

chosen_sweep choose(const context& c, const lab& l, const sweep_options& o) {
  chosen_sweep chosen;
  fs::path file;
  const auto& standard = l.sweeps.standard;
  if (!o.file.empty() && !o.step.empty()) {
    throw failure(exit_code::usage, "--file and STEP exclude each other: use only one of them");
  }
  // A student copy has no step to sweep.
  const bool is_own = o.step == "mine" || (o.step.empty() && o.file.empty() && !l.is_worked);
  if (!o.file.empty()) {
    file = fs::absolute(o.file);
  } else if (is_own) {
    file = c.where.root / l.file;
    if (!fs::exists(file)) {
      throw failure(exit_code::usage, l.file.string() + " does not exist\n`./lab start " + l.name +
                                          "` creates a new skeleton");
    }
  } else if (!o.step.empty()) {
    file = c.where.root / step_or_experiment(l, chosen, o.step);
    if (chosen.of == nullptr) chosen.step = find_step(l, o.step).name;
  } else if (standard) {
    chosen.step = find_step(l, standard->step).name;
    file = c.where.root / worked_step(l, standard->step).file;
  } else {
    throw failure(exit_code::usage, "choose a step of " + l.name + ": `./lab sweep " + l.name +
                                        " " + l.steps.front().name + " --over ...`, or `mine`");
  }
  auto& subject = chosen.subject;
  const bool ours = o.file.empty() && !is_own;
  subject.file = file;
  subject.shown = c.where.shown(file);
  subject.source = read_file(file, static_cast<int>(ours ? exit_code::ours : exit_code::usage));
  subject.constants = constants_of(subject.source);
  if (chosen.of != nullptr) chosen.counter = chosen.of->counter;
  if (!o.counter.empty())
    chosen.counter = &counter_named(o.counter, "there is no counter", exit_code::usage);
  chosen.over = o.over;
  if (chosen.over.empty() && chosen.of != nullptr) chosen.over = chosen.of->over;
  const bool is_standard =
      standard && ours &&
      (o.step.empty() || find_step(l, standard->step).file == c.where.shown(file));
  if (chosen.over.empty() && is_standard) {
    chosen.over = standard->over;
    if (chosen.counter == nullptr) chosen.counter = standard->counter;
  }
  if (chosen.over.empty() && is_own && o.step.empty()) chosen.over = overs_of_own(l, subject);
  if (chosen.over.empty()) throw failure(exit_code::usage, overs_of(subject));
  return chosen;
}

// Multiprocessors of the emulated GPU, whose occupancy is shown. 0 if unknown.
int multiprocessors_of_the_emulated() {
  const auto model = find_gpu(engine_settings::from_environment().gpu_or_default());
  return model.ok() ? model->multiprocessors : 0;
}

void show_lines(context& c, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  for (const auto& line : lines) c.say(line);
  c.say();
}

void show_head(context& c, const chosen_sweep& chosen, const std::vector<swept_axis>& axes,
               const sweep_run& run, const std::optional<gpu>& model, std::size_t points) {
  show_subject(c, chosen.subject.shown, "on " + run.device.text());
  if (model) show_old_gpu_note(c, *model, run.l);
  if (chosen.of != nullptr && !chosen.of->title.empty()) c.say(chosen.of->title);
  std::string text;
  for (const auto& one : axes) {
    const auto& values = one.axis.values;
    text += (text.empty() ? "" : "; ") + one.axis.name + " =";
    if (values.size() <= most_listed) {
      for (const auto& value : values) text += " " + value;
    } else {
      text += fmt::format(" {} {} {}", values.front(), c.out.style().ellipsis(), values.back());
    }
  }
  c.say(c.out.paint(tone::dim,
                    fmt::format("{}: {} configuration{}", text, points, points == 1 ? "" : "s")));
  c.say();
}

// Explains what the table's figures describe.
void show_legend(context& c, const sweep_view& view, const device_choice& device) {
  std::vector<std::string> labels, kernels;
  std::size_t most_kernels = 0;
  bool others = false, recorded = false;
  for (const auto& point : view.points) {
    const auto* const main = point.main_kernel();
    if (!point.found.ok() || main == nullptr) continue;
    most_kernels = std::max(most_kernels, point.kernels.size());
    others = others || point.counted_size != point.size;
    recorded = recorded || point.recorded_ms;
    if (std::find(kernels.begin(), kernels.end(), main->kernel) == kernels.end())
      kernels.push_back(main->kernel);
    if (!point.label.empty() &&
        std::find(labels.begin(), labels.end(), point.label) == labels.end())
      labels.push_back(point.label);
  }
  if (kernels.empty()) return;
  std::string text = labels.size() == 1 ? "One call at " + labels[0] + ": " : "One call each: ";
  if (view.modelled()) {
    text += fmt::format("times are modelled, {}; * marks rates within {:.0f} % of the best. ",
                        device.name, 100 * (view.alike() - 1));
  } else {
    text += view.timed()
                ? "times are measured with a cold L2 cache; * marks rates within 2 % of the best. "
                : "counted on the emulator; this is work, not time. ";
  }
  if (recorded)
    text += fmt::format("\"recorded\" is the measured time of the unchanged step on an {}. ",
                        device.name);
  if (view.counter != nullptr)
    text += fmt::format("The counter is {}: {}. ", view.counter->name, view.counter->figure);
  text += "Grid, block, registers and theoretical occupancy are for ";
  text += kernels.size() == 1 ? kernels[0] : "the kernel";
  if (most_kernels > 1)
    text += fmt::format(", which executes the most instructions of up to {} launched kernels",
                        most_kernels);
  text += " on the " + view.gpu_name;
  if (others) {
    text += fmt::format(", counted on the emulator at size {}",
                        size_text(view.points.front().counted_size));
  }
  c.out.paragraph(text + ".", 0, {}, tone::dim);
  c.say();
}

// Configurations that failed. Those with the same message are grouped.
void show_failures(context& c, const sweep_view& view) {
  std::vector<std::pair<const sweep_point*, std::vector<const sweep_point*>>> groups;
  for (const auto& point : view.points) {
    if (point.found.ok()) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.first->found.what == point.found.what &&
             group.first->found.message == point.found.message;
    });
    if (same == groups.end()) {
      groups.push_back({&point, {&point}});
    } else {
      same->second.push_back(&point);
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == most_messages) {
      c.say(fmt::format("  and {} other messages; --json has them all", groups.size() - i));
      break;
    }
    const auto& [first, points] = groups[i];
    std::string where = text_of(view.axes, points.front()->values);
    if (points.size() > 1) where += fmt::format(" and {} more", points.size() - 1);
    c.say(fmt::format("  {}  {}", c.out.paint(tone::bad, outcome_name(*first)), where));
    for (const auto& line : escaped_lines(first->found.message, 6, 1000)) c.out.paragraph(line, 4);
  }
  if (!groups.empty()) c.say();
}

// Correct points without a modelled time, with the first point's reason.
void show_no_times(context& c, const sweep_view& view) {
  std::size_t others = 0;
  const sweep_point* first = nullptr;
  for (const auto& point : view.points) {
    if (point.why_no_time.empty()) continue;
    if (first == nullptr) first = &point;
    others += first == &point ? 0 : 1;
  }
  if (first == nullptr) return;
  std::string where = text_of(view.axes, first->values);
  if (others > 0) where += fmt::format(" and {} more", others);
  c.say(fmt::format("  {}  {}", c.out.paint(tone::note, "no time"), where));
  for (const auto& line : escaped_lines(first->why_no_time, 6, 1000)) c.out.paragraph(line, 4);
  c.say();
}

void show(context& c, const sweep_view& view, const sweep_run& run) {
  show_lines(c, sweep_table(view, c.out.style()));
  show_failures(c, view);
  show_no_times(c, view);
  show_legend(c, view, run.device);
  show_lines(c, sweep_chart(view, c.out.style()));
  show_lines(c, occupancy_chart(view, c.out.style()));
  for (const auto& sentence : sweep_sentences(view)) c.out.paragraph(sentence, 0);
  if (!view.modelled()) return;
  c.say();
  c.out.paragraph(modelled_error_text(c, run.l, run.device.name), 0, "", tone::dim);
}

json time_json(const sweep_point& point) {
  const bool timed = point.timed(), measured = point.measured();
  json j;
  j["time_ms"] = timed ? json(point.time_ms()) : json(nullptr);
  j["time_kind"] = measured ? "measured" : timed ? "modelled" : "none";
  j["time_low_ms"] = measured ? json(point.time.range_ms.low) : json(nullptr);
  j["time_high_ms"] = measured ? json(point.time.range_ms.high) : json(nullptr);
  j["samples"] = point.time.samples;
  j["gb_per_s"] = timed ? json(point.work.bytes / point.time_ms() / 1e6) : json(nullptr);
  j["recorded_ms"] = point.recorded_ms ? json(*point.recorded_ms) : json(nullptr);
  j["why_no_time"] = point.why_no_time.empty() ? json(nullptr) : json(point.why_no_time);
  return j;
}

json point_json(const sweep_view& view, const sweep_point& point) {
  json j = {{"values", json::array()}};
  for (std::size_t i = 0; i < view.axes.size(); ++i) {
    j["values"].push_back({{"name", view.axes[i].axis.name}, {"value", point.values[i]}});
  }
  j["correct"] = point.found.ok();
  j["class"] = name_of(point.found.what);
  j["message"] = point.found.message;
  j["size"] = point.size;
  j.update(time_json(point));
  const auto percent = occupancy_percent(point);
  j["occupancy_percent"] = percent ? json(*percent) : json(nullptr);
  const auto* const main = point.main_kernel();
  j["main_kernel"] = main != nullptr ? json(main->kernel) : json(nullptr);
  const auto blocks = point.blocks();
  j["blocks"] = blocks ? json(*blocks) : json(nullptr);
  const auto counted = counted_figure(view, point);
  j["counted"] = counted ? json(counted->value) : json(nullptr);
  const auto figure = figure_of(view, point);
  j["figure"] = figure ? json(figure->value) : json(nullptr);
  j["among_the_best"] = point.timed() ? json(is_among_the_best(view, point)) : json(nullptr);
  j["counted_size"] = point.kernels.empty() ? json(nullptr) : json(point.counted_size);
  j["kernels"] = profile_document(point.kernels);
  return j;
}

json sweep_json(const sweep_view& view, const lab& l, const chosen_sweep& chosen,
                const sweep_run& run) {
  json document = {{"lab", l.name},
                   {"subject", chosen.subject.shown},
                   {"device", device_json(run.device)},
                   {"machine_code", fmt::format("sm_{}", run.where.code())},
                   {"occupancy_of", view.gpu_name},
                   {"multiprocessors", view.multiprocessors},
                   {"seed", run.seed},
                   {"modelled_as", view.modelled() ? json(view.gpu_name) : json(nullptr)},
                   {"counter", view.counter != nullptr ? json(view.counter->name) : json(nullptr)},
                   {"axes", json::array()}};
  for (const auto& one : view.axes) {
    document["axes"].push_back({{"name", one.axis.name},
                                {"kind", stepwise::name_of(one.kind)},
                                {"values", one.axis.values}});
  }
  document["figure_is"] = figure_title(view);
  document["points"] = json::array();
  for (const auto& point : view.points) document["points"].push_back(point_json(view, point));
  document["sentences"] = sweep_sentences(view);
  return document;
}

// A sweep succeeds if at least one configuration is correct.
int exit_code_of(const std::vector<sweep_point>& points) {
  const auto all = [&](auto is) { return std::all_of(points.begin(), points.end(), is); };
  if (!all([](const auto& p) { return !p.found.ok(); })) return 0;
  const bool infra = all([](const auto& p) { return p.found.what == verdict::infra; });
  return static_cast<int>(infra ? exit_code::environment : exit_code::student);
}

// Adds the course's times of the step to the points that are the unmodified step.
void add_recorded(const context& c, const lab& l, const chosen_sweep& chosen,
                  const std::vector<swept_axis>& axes, const std::string& gpu_name,
                  std::vector<sweep_point>& points) {
  if (chosen.step.empty()) return;
  const recorded_times recorded = load_recorded_times(c.where.root, l, gpu_name);
  for (auto& point : points) {
    bool as_it_stands = point.found.ok();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::string& value = point.values[i];
      if (axes[i].kind == axis_kind::registers)
        as_it_stands = as_it_stands && value == no_register_cap;
      if (axes[i].kind == axis_kind::constant)
        as_it_stands =
            as_it_stands && value == find_constant(chosen.subject.constants, axes[i].axis.name,
                                                   chosen.subject.shown)
                                         .value;
    }
    if (as_it_stands) point.recorded_ms = recorded.find(chosen.step, point.size);
  }
}

int sweep(context& c, const sweep_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  const auto wanted = parse_size(l, p, o.size);
  const chosen_sweep chosen = choose(c, l, o);
  std::vector<swept_axis> axes;
  for (const auto& text : chosen.over)
    axes.push_back(classify(parse_axis(text), chosen.subject, l, p));
  const bool over_sizes = std::any_of(axes.begin(), axes.end(),
                                      [](const auto& a) { return a.kind == axis_kind::size; });
  if (wanted && over_sizes) {
    throw failure(exit_code::usage,
                  "--size and --over exclude each other: give the sizes in only one of them");
  }
  const auto model = wanted_gpu(c, o.gpu);
  const device_choice device = c.device();
  if (!o.record.empty()) need_gpu_to_record(device);
  const sweep_run run{l,     p, c.where, device, choose_device(device_request::emulated, c.where),
                      o.seed};
  const lab_size usual = device.gpu ? figure_size(l, device, {}) : modelled_size(l, *model);
  auto points = plan_sweep(l, p, axes, wanted.value_or(usual));
  show_head(c, chosen, axes, run, model, points.size());
  prepare_points(run, chosen.subject, axes, points, c.now());
  if (device.gpu) {
    const file_lock lock(gpu_lock_file(device.state), waiting_for_gpu(c));
    time_points(run, points, c.now());
  } else {
    model_points(run, points, seconds_for_a_point, c.now());
    add_recorded(c, l, chosen, axes, device.name, points);
  }
  const auto error = load_model_error(c.where.root, l, run.emulator.name);
  const sweep_view view{axes,
                        points,
                        chosen.counter,
                        multiprocessors_of_the_emulated(),
                        run.emulator.name,
                        error ? std::optional(error->median) : std::nullopt};
  if (c.as_json) {
    c.print(sweep_json(view, l, chosen, run));
  } else {
    c.busy.clear();
    show(c, view, run);
  }
  const bool any_timed = std::ranges::any_of(points, &sweep_point::timed);
  if (!o.record.empty() && !any_timed) {
    c.say("no point has a time, so nothing is recorded");
  } else if (!o.record.empty()) {
    const fs::path file = keep_sweep(c.where.root, l, device,
                                     sweep_entries(o.record, view, utc_now(), command_text(c)));
    say_recorded(c, file);
  }
  return exit_code_of(points);
}

const verb sweep_verb(
    {verb_place::group::examine, 40}, "sweep", "run one version in many configurations",
    "  ./lab sweep launch                                   the lab's own sweep\n"
    "  ./lab sweep launch 03 --over threads=32..1024 --over items=1,2,4,8\n"
    "  ./lab sweep launch mine --over threads=64..256+64    your file with 64, 128, 192, 256\n"
    "  ./lab sweep transpose 05 --over tile=8,16,32         any constant at the top of the file\n"
    "  ./lab sweep matmul 09 --over registers=none,96,64    the compiler's cap on registers\n"
    "  ./lab sweep launch 02 --over n=2^10..2^20            the problem's size\n"
    "  ./lab sweep transpose 06 --over tile=16,32 \\\n"
    "      --counter shared_load_wavefronts_per_request\n"
    "  ./lab sweep launch --gpu rtx4090                     modelled for another GPU\n\n"
    "A..B doubles, A..B+S adds S. Each configuration is compiled, checked, counted\n"
    "and timed, on a GPU or with the time model. The limit is 200 configurations.",
    [](arguments& takes, sweep_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("STEP", o.step, "a solution step, an experiment of the lab, or mine: your file");
      takes.add("--over", o.over, "NAME=VALUES: vary a constant, the size, or registers")
          .one_a_time();
      takes.add("--counter", o.counter,
                "a counter from grader/GOALS.md to show instead of instructions");
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add("--size", o.size, "the call's size, like 1048576 or 512x256");
      takes.add("--seed", o.seed, "seed of the random inputs (7)");
      takes.add("--gpu", o.gpu, gpu_option_text);
      if (takes.for_authors())
        takes.add("--record", o.record,
                  "record the sweep under this name in solutions/LAB/measured/GPU.sweeps.jsonl");
    },
    sweep);

}  // namespace
}  // namespace stepwise::cli
