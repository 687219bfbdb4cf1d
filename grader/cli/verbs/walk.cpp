// lab walk: the lab's versions one after the other - idea, diff, correctness, figures, limit.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <future>

#include "grader/cli/context.hpp"
#include "grader/cli/own_progress.hpp"
#include "grader/cli/recorded/choice.hpp"
#include "grader/cli/recorded/make.hpp"
#include "grader/cli/text/diff_text.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/cli/text/given_walk.hpp"
#include "grader/cli/tour/tour.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/course/source.hpp"
#include "grader/model/modelled.hpp"
#include "grader/model/recorded_times.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

using namespace std::chrono_literals;

struct walk_options {
  std::string lab, step, gpu;
  std::uint64_t seed = 7;
  bool is_plain = false, shows_all = false;
};

constexpr std::size_t walk_label_width = 11;

struct walked {
  const step* s = nullptr;
  std::string watch;  // the next limit
  check_report report;
  figures f;
  modelled_figures m;                 // if there is no GPU
  std::optional<double> recorded_ms;  // the course's time of this step at the modelled size
  double speedup = 0;                 // over `over` in this walk; 0 if unknown

  double time_ms() const { return f.timed() ? f.time_ms : m.timed() ? m.time_ms : 0; }
  call_outcome outcome() const { return report.correct() ? f.found : report.found; }
};

void show_rule(context& c) {
  std::string rule;
  for (int i = 0; i < c.out.style().width; ++i) rule += c.out.style().unicode ? "\u2500" : "-";
  c.say(c.out.paint(tone::dim, rule));
}

void labelled(context& c, const char* label, const std::string& text, tone t = tone::plain) {
  if (!c.as_json) c.out.paragraph(text, walk_label_width, "  " + c.out.paint(tone::dim, label), t);
}

std::string source_of(const context& c, const step& s) {
  return read_file(c.where.root / s.file, static_cast<int>(exit_code::ours));
}

// The first step has no predecessor, so this shows its code without the leading comment.
void show_code(context& c, const step& s, const std::string& text) {
  const clean_source source = without_markers(text);
  c.say(c.out.paint(tone::place, "  " + s.file.string()));
  for (std::size_t i = header_lines(source.lines); i < source.lines.size(); ++i) {
    c.out.code(c.out.paint(tone::dim, fmt::format("  {:>3}  ", source.numbers[i])),
               source.lines[i]);
  }
}

void show_introduction(context& c, const step& s, std::map<std::string, std::string> head) {
  show_rule(c);
  c.say(c.out.paint(tone::strong, s.name) + "  " + s.idea);
  c.say();
  if (!head["idea"].empty()) labelled(c, "idea", head["idea"]);
  if (!head["gain"].empty()) labelled(c, "gain", head["gain"]);
  if (!head["needs"].empty()) labelled(c, "needs", head["needs"]);
  if (!head["source"].empty()) labelled(c, "source", head["source"]);
  c.say();
}

void show_change(context& c, const lab& l, const step& s) {
  const std::string text = source_of(c, s);
  if (s.over.empty()) {
    show_code(c, s, text);
  } else {
    const step& before = find_step(l, s.over);
    show_diff(c, before.file.string(), source_of(c, before), s.file.string(), text, false);
  }
  c.say();
}

void show_result(context& c, const walked& w, const device_choice& device) {
  c.busy.clear();
  if (!w.report.correct()) {
    show_finding(c, w.report);
    return;
  }
  labelled(c, "correct", right_text(c, w.report), tone::good);
  if (!w.f.found.ok()) {
    check_report failed;
    failed.found = w.f.found;
    failed.label = w.f.label;
    failed.printed = w.f.printed;
    show_finding(c, failed);
    return;
  }
  const std::string gain =
      w.speedup > 0 ? fmt::format(", {} over {}", ratio_text(w.speedup), w.s->over) : "";
  if (device.gpu) {
    labelled(c, "measured", figures_phrase(w.f) + gain);
  } else {
    labelled(c, "counted", figures_phrase(w.f));
    labelled(c, "modelled", modelled_phrase(w.m) + gain);
    if (w.recorded_ms)
      labelled(c, "recorded", fmt::format("{}, {}", time_text(*w.recorded_ms), w.m.gpu));
  }
  if (!w.watch.empty()) labelled(c, "limit", w.watch, tone::note);
  if (w.s->recording)
    labelled(c, "see", play_command(w.s->file.parent_path().filename(), w.s->name));
}

json step_json(const walked& w) {
  json j = {{"name", w.s->name},
            {"over", w.s->over.empty() ? json(nullptr) : json(w.s->over)},
            {"idea", w.s->idea},
            {"file", w.s->file.string()}};
  j.update(check_json(w.report));
  if (w.report.correct()) {
    j["correct"] = w.f.found.ok();
    j["class"] = name_of(w.f.found.what);
    j["message"] = w.f.found.message;
  }
  j.update(figures_json(w.f));
  if (!w.m.gpu.empty()) {
    j.update(modelled_json(w.m));
  } else {
    j["why_no_time"] = w.f.timed() ? json(nullptr) : json(w.outcome().message);
  }
  if (w.recorded_ms) j["recorded_ms"] = *w.recorded_ms;
  j["speedup"] = w.speedup > 0 ? json(w.speedup) : json(nullptr);
  j["limit"] = w.watch;
  return j;
}

cell time_cell(const walked& w, double ms) {
  if (!w.outcome().ok()) return {std::string(name_of(w.outcome().what)), tone::bad};
  return {ms > 0 ? time_text(ms) : ""};
}

void show_measured_table(context& c, const std::vector<walked>& all) {
  std::vector<std::vector<cell>> rows;
  std::vector<bar> bars;
  for (const auto& w : all) {
    const bool ok = w.outcome().ok();
    rows.push_back({{w.s->name, ok ? tone::plain : tone::bad},
                    time_cell(w, w.f.timed() ? w.f.time_ms : 0),
                    {w.f.timed() ? w.f.rate() : ""},
                    {w.speedup > 0 ? ratio_text(w.speedup) : ""},
                    {w.s->idea, tone::dim}});
    bars.push_back(
        {w.s->name, w.f.timed() ? 1 / w.f.time_ms : 0, w.f.timed() ? w.f.rate() : "", tone::place});
  }
  c.table({{"step"},
           {"time", true},
           {"rate", true},
           {"over before", true},
           {"idea", false, true, false, true}},
          rows);
  c.say();
  c.say(c.out.paint(tone::dim, "rate (measured, higher is better)"));
  for (const auto& line : bar_lines(bars, c.out.style())) c.say(line);
}

void show_modelled_table(context& c, const lab& l, const std::vector<walked>& all) {
  std::vector<std::vector<cell>> rows;
  std::vector<bar> bars;
  for (const auto& w : all) {
    const bool ok = w.outcome().ok(), there = w.m.timed();
    const std::string rate = there ? w.m.rate() : "";
    rows.push_back({{w.s->name, ok ? tone::plain : tone::bad},
                    time_cell(w, there ? w.m.time_ms : 0),
                    {w.speedup > 0 ? ratio_text(w.speedup) : ""},
                    {w.recorded_ms ? time_text(*w.recorded_ms) : "", tone::dim},
                    {w.s->idea, tone::dim}});
    bars.push_back({w.s->name, there ? 1 / w.m.time_ms : 0, rate, tone::place});
  }
  c.table({{"step"},
           {"modelled", true},
           {"over before", true},
           {"recorded", true},
           {"idea", false, true, false, true}},
          rows);
  c.say();
  c.say(c.out.paint(tone::dim, "rate (modelled, higher is better)"));
  for (const auto& line : bar_lines(bars, c.out.style())) c.say(line);
  c.say();
  c.out.paragraph(modelled_error_text(c, l, all.back().m), 0, "", tone::dim);
}

void show_summary(context& c, const lab& l, const std::vector<walked>& all,
                  const device_choice& device) {
  show_rule(c);
  std::string label;
  for (const auto& w : all)
    if (const auto& one = device.gpu ? w.f.label : w.m.label; !one.empty()) label = one;
  label = without_seed(label);
  c.say(c.out.paint(tone::strong, l.title) + fmt::format(" on {}", device.text()));
  c.say(c.out.paint(tone::dim,
                    fmt::format("one call at {}{}", label, device.gpu ? ", cold L2" : "")));
  c.say();
  if (device.gpu) {
    show_measured_table(c, all);
  } else {
    show_modelled_table(c, l, all);
  }
  c.say();
  c.say("  " + c.out.paint(tone::dim, "deeper   ") + l.deeper().string() +
        c.out.paint(tone::dim, "   the measurements, and further ideas"));
}

void show_case_study(context& c, const lab& l, std::size_t left_out) {
  if (left_out == 0) return;
  c.say(fmt::format(
      "  {}./lab walk {} --all{}", c.out.paint(tone::dim, "more     "), l.name,
      c.out.paint(tone::dim, fmt::format("   adds the lab's case study ({} more)", left_out))));
}

int code_of_walk(const std::vector<walked>& all) {
  if (std::ranges::all_of(all, [](const walked& w) { return w.outcome().ok(); })) return 0;
  // A worked solution that is wrong is never the student's fault.
  const bool infra =
      std::ranges::any_of(all, [](const walked& w) { return w.outcome().is_open(); });
  return static_cast<int>(infra ? exit_code::environment : exit_code::ours);
}

// Returns false if the reader left early. `all` gets the steps that ran, in their order.
bool take_tour(context& c, const lab& l, const std::vector<const step*>& chosen,
               const device_choice& device, const std::function<walked(const step&)>& walk_one,
               std::vector<walked>& all) {
  const std::string handout = read_if_there(c.where.root / l.handout()).value_or("");
  std::map<std::string, walked> known;
  std::vector<tour_stop> stops;
  for (const step* s : chosen) {
    stops.push_back({s->name, s->over, questions_about(handout, s->name),
                     [&c, s] {
                       auto head = header_fields(source_of(c, *s));
                       head["gain"].clear();  // it would answer the question
                       show_introduction(c, *s, head);
                     },
                     [&c, &l, s] { show_change(c, l, *s); },
                     [&, s] {
                       // After a jump, the step to compare with may not have run yet.
                       if (!s->over.empty() && !known.contains(s->over))
                         known[s->over] = walk_one(find_step(l, s->over));
                       if (!known.contains(s->name)) known[s->name] = walk_one(*s);
                       show_result(c, known[s->name], device);
                       return known[s->name].speedup;
                     }});
  }
  const bool ended = guide(c, stops, read_typed_line);
  for (const step* s : chosen) {
    if (ended && !known.contains(s->name)) known[s->name] = walk_one(*s);
    if (known.contains(s->name)) all.push_back(known[s->name]);
  }
  return ended;
}

int walk(context& c, const walk_options& o) {
  const lab whole = load_lab(c.where.build, o.lab);
  const lab l = o.shows_all || !o.step.empty() ? whole : path_of(whole);
  const std::size_t left_out = whole.steps.size() - l.steps.size();
  if (!l.is_worked && c.request == device_request::gpu) (void)c.device();  // may fail
  if (!l.is_worked)
    return o.step.empty() ? walk_given(c, l, o.gpu, o.seed)
                          : show_given(c, l, find_step(l, o.step));
  const problem& p = problem_of(l, c.where);
  std::vector<const step*> chosen;
  if (!o.step.empty()) {
    chosen.push_back(&find_step(l, o.step));
  } else {
    for (const auto& s : l.steps) chosen.push_back(&s);
  }
  const auto model = wanted_gpu(c, o.gpu);
  const std::size_t too_new =
      o.step.empty() && !c.where.is_as_built
          ? std::erase_if(chosen,
                          [&](const step* s) {
                            return l.runs_on(c.where.code()) && !l.runs_on(c.where.code(), s->name);
                          })
          : 0;
  const device_choice device = c.device();
  const lab_size size = figure_size(l, device, {});
  const recorded_times recorded =
      device.gpu ? recorded_times{} : load_recorded_times(c.where.root, l, device.name);
  c.say(fmt::format("{}: {} on {}", c.out.paint(tone::strong, l.title),
                    o.step.empty() ? fmt::format("{} versions", chosen.size()) : chosen[0]->name,
                    device.text()));
  if (model) show_old_gpu_note(c, *model, l);
  if (too_new > 0)
    c.out.paragraph(fmt::format("{} further steps need compute capability 9.0", too_new), 0, "",
                    tone::dim);
  std::vector<walked> all;
  std::map<std::string, double> times;
  const auto examine = [&](const step& s, const activity& now) {
    walked w;
    w.s = &s;
    const auto head = header_fields(source_of(c, s));
    if (head.contains("watch")) w.watch = head.at("watch");
    const subject made = prepare(c, l, "", s.name);
    const fs::path& program = made.program;
    if (program.empty()) {
      w.report.found = {verdict::infra, "it does not compile for " + machine_code_of(*model) +
                                            ": " + made.compile_errors.at(0)};
    } else {
      w.report = check_program(l, p, program, device, l.check, o.seed, now);
      if (model && !c.where.is_as_built) excuse_small_gpu(*model, w.report.found);
    }
    if (w.report.correct()) {
      w.f = measure_program(l, p, program, device, size, o.seed, now);
      if (!device.gpu && w.f.found.ok()) {
        w.m = model_program(l, p, program, modelled_size(l, *model), o.seed, device, now);
        w.recorded_ms = recorded.find(s.name, w.m.size);
      }
    } else {
      w.f.size = size;
    }
    return w;
  };
  const auto compare = [&](walked w) {
    const step& s = *w.s;
    if (const double ms = w.time_ms(); ms > 0) {
      times[s.name] = ms;
      if (times.contains(s.over)) w.speedup = times[s.over] / ms;
    }
    return w;
  };
  const auto walk_one = [&](const step& s) {
    c.busy.doing(s.name);
    return compare(examine(s, c.now()));
  };
  // For a single step, the step before it is timed, too, so that the gain can be stated.
  if (device.gpu && chosen.size() == 1 && !chosen[0]->over.empty()) {
    const auto before = measure_program(l, p, c.where.solution(l.name, chosen[0]->over), device,
                                        size, o.seed, c.now());
    if (before.timed()) times[chosen[0]->over] = before.time_ms;
  }
  if (!o.is_plain && !c.as_json && o.step.empty() && is_for_a_person()) {
    if (!take_tour(c, l, chosen, device, walk_one, all)) return code_of_walk(all);
  } else {
    // Most of a step's work is on one thread, so the next step runs at the same time, unless steps
    // are measured or compiled here.
    const bool in_pairs = !device.gpu && c.where.is_as_built;
    std::deque<std::future<walked>> begun;
    std::size_t count = 0;
    for (const step* s : chosen) {
      for (; in_pairs && begun.size() < 2 && count < chosen.size(); ++count)
        begun.push_back(
            std::async(std::launch::async, examine, std::cref(*chosen[count]), activity{}));
      if (!c.as_json) {
        show_introduction(c, *s, header_fields(source_of(c, *s)));
        show_change(c, l, *s);
      }
      if (in_pairs) {
        c.busy.doing(s->name);
        while (begun.front().wait_for(100ms) != std::future_status::ready) c.busy.tick();
        all.push_back(compare(begun.front().get()));
        begun.pop_front();
      } else {
        all.push_back(walk_one(*s));
      }
      if (!c.as_json) show_result(c, all.back(), device);
    }
  }
  if (c.as_json) {
    json document = {{"lab", l.name}, {"device", device_json(device)}, {"steps", json::array()}};
    if (model) document["machine_code"] = machine_code_of(*model);
    for (const auto& w : all) document["steps"].push_back(step_json(w));
    c.print(document);
  } else if (o.step.empty()) {
    show_summary(c, l, all, device);
    show_case_study(c, l, left_out);
    show_next(c, l);
  }
  return code_of_walk(all);
}

const verb walk_verb(
    {verb_place::group::learn, 20}, "walk",
    "read and run the versions of a lab, one idea at a time",
    "  ./lab walk reduction                      from the first to the last\n"
    "  ./lab walk reduction --all                with the steps of its case study\n"
    "  ./lab walk reduction --plain              print everything at once, without a tour\n"
    "  ./lab walk reduction --step 03_sequential only one step\n"
    "  ./lab walk reduction --device gpu         measured; an error without a GPU\n"
    "  ./lab walk reduction --gpu a100           modelled for another GPU; ./lab device --list",
    [](arguments& takes, walk_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("--step", o.step, "show only this step");
      takes.add("--gpu", o.gpu, gpu_option_text);
      takes.add("--seed", o.seed, "seed of the random inputs (7)");
      takes.flag("--all", o.shows_all, "include the steps of the lab's case study");
      takes.flag("--plain", o.is_plain, "print everything at once, without a tour");
    },
    walk);

}  // namespace
}  // namespace stepwise::cli
