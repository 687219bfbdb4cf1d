// lab grade: computes the points, in the judge's sandbox or with --practice on trust.
#include "grader/grade/grade.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/graded_file.hpp"
#include "grader/cli/own_progress.hpp"
#include "grader/cli/text/term_line.hpp"
#include "grader/cli/verb.hpp"
#include "grader/cli/verbs/grade.hpp"
#include "grader/course/same_code.hpp"
#include "grader/grade/gpu_care.hpp"
#include "grader/grade/memory.hpp"
#include "grader/grade/withheld.hpp"
#include "grader/judge/compile.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/files.hpp"
#include "grader/system/isolated.hpp"

namespace stepwise::cli {
namespace {

// For --practice: small enough to be typed again.
std::uint64_t short_seed() { return 1 + fresh_seed() % 1'000'000; }

constexpr std::size_t most_answers = std::size_t{4} << 20;

// The answers are in the graded file's folder, so a submission's answers come with it.
void read_answers(const context& c, const lab& l, const std::string& file, graded_file& graded) {
  const fs::path source = file.empty() ? c.where.root / l.file : fs::absolute(file);
  const fs::path answers = source.parent_path() / l.answers().filename();
  graded.answers_file = c.where.shown(answers);
  const auto handout = read_if_there(c.where.root / l.handout());
  const auto text = read_bounded(answers, most_answers, false);
  if (!handout || !text) return;
  graded.answers = count_answers(*handout, *text);
  graded.beyond = count_answers(read_if_there(c.where.root / l.deeper()).value_or(""), *text);
}

fs::path source_of(const context& c, const lab& l, const grade_options& o) {
  if (!o.step.empty()) return c.where.root / find_step(l, o.step).file;
  return o.file.empty() ? c.where.root / l.file : fs::absolute(o.file);
}

// Reports a copy of a step. In a lab whose lab.toml says so, a copy earns nothing.
void look_for_copy(const context& c, const lab& l, const grade_options& o, graded_file& graded) {
  if (!o.step.empty()) return;
  const auto steps = texts_of_steps(c.where.root, l);
  graded.published =
      run_isolated([&] { return published_step(steps, graded.source); }).value_or("");
  if (std::none_of(l.steps.begin(), l.steps.end(),
                   [&](const step& s) { return s.name == graded.published; }))
    graded.published.clear();
  if (graded.published.empty() || l.published_steps_earn || graded.report.points == 0) return;
  grade_report& report = graded.report;
  report.what = verdict::held;
  report.message = remark_text(graded) + "; lab.toml gives no points for a published step";
  report.points = 0;
  for (auto& g : report.goals) g.points = 0;
}

// Submissions run in the sandbox and see their own source, which findings quote. A GPU's nodes are
// not visible there, so with --practice a program that uses a GPU itself runs without the sandbox.
void confine(const context& c, const lab& l, const grade_options& o, graded_file& graded) {
  graded.device.guards = graded.guards;
  const fs::path source = graded.what.known_as.empty() ? source_of(c, l, o) : graded.what.known_as;
  graded.device.shown = {source, c.where.root / "common" / "lab",
                         c.where.root / "labs" / l.name / l.contract};
  if (o.practice && o.file.empty()) {
    graded.device.shown.push_back(c.where.root / "solutions" / l.name / "parts");
  }
}

// The inputs of a judged grade come from the key and this file, or are random.
void draw_inputs(const installation& where, const grade_options& o, graded_file& graded) {
  lab& l = graded.course;
  graded.seed = graded.input_seed = o.seed ? *o.seed : short_seed();
  if (o.practice) return;
  graded.key = o.key.empty() ? grading_key() : grading_key(o.key);
  if (!o.seed) graded.seed = graded.key->seed(l, graded.source);
  graded.input_seed = graded.key->seed_of_inputs(l, graded.seed);
  graded.hidden = graded.key->hidden_sizes(l, graded.source, graded.seed);
  if (const auto small = small_sizes(l, problem_of(l, where)); !small.empty()) {
    if (auto large = graded.key->large_size(l, small.back(), graded.source, graded.seed))
      l.drawn_large.push_back(*std::move(large));
  }
  for (goal& g : l.goals)
    if (g.what == goal::kind::counter)
      g.size = graded.key->counted_size(l, g.size, graded.source, graded.seed);
  l.check.insert(l.check.end(), graded.hidden.begin(), graded.hidden.end());
}

// Prepares the report for display, with the file's own name and the seed that repeats the grade.
void make_readable(const context& c, const lab& l, const grade_options& o, graded_file& graded) {
  if (!graded.key) return;
  if (!graded.key->is_public()) withhold_details(graded.report, graded.hidden);
  const fs::path& known_as = graded.what.known_as;
  const fs::path source = source_of(c, l, o);
  replace_in(graded.report, {{known_as.string(), source.string()},
                             {known_as.empty() ? "" : c.where.shown(known_as), graded.what.shown},
                             {known_as.empty() ? "" : hidden_name, source.filename().string()},
                             {std::to_string(graded.input_seed), std::to_string(graded.seed)}});
}

subject compile(context& c, const lab& l, const grade_options& o, const graded_file& graded,
                batch_memory& memory) {
  // A judged file is compiled alone, wherever it is.
  std::error_code ignored;
  const fs::path source = source_of(c, l, o);
  const bool alone = !o.practice && o.step.empty() && fs::exists(source, ignored);
  const std::string file = alone ? source.string() : o.file;
  const std::uint64_t usual = memory.take(bytes_to_compile(graded.source));
  compile_guards guards{graded.guards};
  guards.hides_name = alone;
  if (usual > 0) guards.memory_bytes = usual;
  subject made = prepare(c, l, file, o.step, guards);
  if (!made.out_of_memory) return made;
  guards.memory_bytes = memory.take_all(compile_guards{}.memory_bytes);
  guards.limit_s -= made.seconds;
  return guards.memory_bytes > 0 ? prepare(c, l, file, o.step, guards) : made;
}

grade_report run(context& c, const lab& l, graded_file& graded, batch_memory& memory) {
  const problem& p = problem_of(l, c.where);
  const running_need need = bytes_to_run(l, p);
  graded.budget.emplace(budget_s(l));
  std::optional<file_lock> turn;
  const auto take_turn = [&] {
    if (turn) return;
    turn.emplace(gpu_lock_file(graded.device.state),
                 [&] { c.busy.doing("waiting for another lab that measures on the GPU"); });
    if (!graded.device.judged()) return;
    c.busy.doing("preparing the GPU");
    graded.care = look_after_gpu(graded.device);
    graded.device.walls = graded.care->walls;
  };
  const auto once = [&](std::uint64_t share) {
    graded.device.memory = limits_within(share, need);
    return grade_program(l, p, graded.what.shown, graded.what.program, graded.what.compile_errors,
                         c.where, graded.device, graded.input_seed, c.now(), take_turn,
                         &*graded.budget);
  };
  grade_report report = once(memory.take(need.all));
  if (report.what != verdict::memory || graded.device.gpu) return report;
  const std::uint64_t all = memory.take_all(most_bytes_to_run);
  return all > 0 ? once(all) : std::move(report);
}

graded_file grade_file(context& c, const lab& of, const grade_options& o) {
  graded_file graded;
  graded.course = of;
  const lab& l = graded.course;
  graded.device = o.practice ? c.device() : judged_on(c.device(), c.where);
  // If the file is missing, prepare() reports it.
  std::error_code ignored;
  const fs::path source = source_of(c, l, o);
  if (fs::exists(source, ignored)) graded.source = read_handed_in(source);
  draw_inputs(c.where, o, graded);
  graded.guards = &find_protections();
  batch_memory memory([&] { c.busy.tick(); });
  graded.what = compile(c, l, o, graded, memory);
  confine(c, l, o, graded);
  if (o.step.empty()) read_answers(c, l, o.file, graded);
  c.say(
      fmt::format("{} on {}", c.out.paint(tone::strong, graded.what.shown), graded.device.text()));
  c.say();
  // A judged file has been handed in, so its author cannot act on warnings.
  if (!o.practice) graded.what.warnings.clear();
  show_warnings(c, graded.what.warnings);
  graded.report = run(c, l, graded, memory);
  make_readable(c, l, o, graded);
  look_for_copy(c, l, o, graded);
  return graded;
}

// Shows the emulator's findings. Errors fail the submission; the others are worth a look.
void show_checks(context& c, const lab& l, const check_report& report) {
  if (report.findings.empty()) return;
  std::string text = findings_text(report.findings, c.out.style(), c.where.root);
  text.pop_back();
  c.say(text);
  c.say("  " + c.out.paint(tone::dim, "terms  ") + explain_text(terms_of(report.findings)));
  c.say();
  if (!report.large.empty()) {
    c.out.paragraph("found at " + report.large + "; the checks at all small sizes found nothing",
                    2);
    c.say();
  }
  if (!has_errors(report.findings) && !l.has(goal::kind::checks)) {
    c.out.paragraph("this does not affect your points", 2, {}, tone::dim);
    c.say();
  }
}

void show_goals(context& c, const grade_report& report) {
  const bool unicode = c.out.style().unicode;
  for (std::size_t i = 0; i < report.goals.size(); ++i) {
    const auto& g = report.goals[i];
    // Consecutive goals that are open for the same reason share one line for it.
    const bool same_follows =
        i + 1 < report.goals.size() && report.goals[i + 1].message == g.message;
    const bool yes = g.passed.value_or(false), open = !g.passed.has_value();
    const std::string mark = open  ? "-"
                             : yes ? (unicode ? "\u2713" : "+")
                                   : (unicode ? "\u2717" : "x");
    const std::string points = open ? fmt::format("{:>11}", fmt::format("({:g})", g.what->points))
                                    : fmt::format("{:>4g} of {:>3g}", g.points, g.what->points);
    const std::string label = fmt::format("  {} {}",
                                          c.out.paint(open  ? tone::dim
                                                      : yes ? tone::good
                                                            : tone::bad,
                                                      mark),
                                          points);
    c.out.paragraph(g.what->name, 17, label, yes ? tone::plain : open ? tone::dim : tone::strong);
    const bool found = report.correctness && !report.correctness->findings.empty();
    const bool told_above = g.what->what == goal::kind::correct ? !yes && !open
                            : g.what->what == goal::kind::checks
                                ? !yes && found && report.what != verdict::held
                                : false;
    if (!told_above && !same_follows) c.out.paragraph(g.message, 17, {}, tone::dim);
  }
}

void show_help(context& c, const lab& l, const grade_report& report) {
  const help_at_hand help = help_for(c, l, report);
  if (help.number != 0)
    c.say(fmt::format("  {}     ./lab hint {} {}   {}", c.out.paint(tone::dim, "hint"), l.name,
                      help.number, help.title));
  if (!help.terms.empty())
    c.say("  " + c.out.paint(tone::dim, help.terms.size() == 1 ? "term " : "terms") + "    " +
          explain_text(help.terms));
  if (help.number != 0 || !help.terms.empty()) c.say();
}

void show_answers(context& c, const lab& l, const graded_file& graded) {
  const std::string mark = "  " + c.out.paint(tone::dim, "answers");
  if (!graded.answers) {
    // A user who grades a file other than their own did not ask for answers.
    if (graded.what.shown != l.file.string()) return;
    c.out.paragraph(
        fmt::format("{} does not exist; `./lab start {}` creates it", graded.answers_file, l.name),
        11, mark);
  } else {
    std::string text = fmt::format("{} of {} questions answered in {}", graded.answers->answered,
                                   graded.answers->questions, graded.answers_file);
    if (graded.beyond.answered > 0)
      text += fmt::format(", and {} of {} deeper questions", graded.beyond.answered,
                          graded.beyond.questions);
    c.out.paragraph(text, 11, mark);
  }
  c.say();
}

tone tone_of(verdict v) {
  switch (v) {
    case verdict::pass:
      return tone::good;
    case verdict::slow:
    case verdict::held:
    case verdict::inconclusive:
    case verdict::infra:
      return tone::note;
    default:
      return tone::bad;
  }
}

// Prints nothing if no layer is missing.
void show_sandbox(context& c, const graded_file& graded) {
  if (graded.care && !graded.care->missing.empty())
    c.out.paragraph("the GPU server runs without this protection: " + graded.care->missing, 11,
                    "  " + c.out.paint(tone::note, "missing"), tone::dim);
  if (!runs_in_sandbox(graded.device) || graded.guards->complete()) return;
  for (const auto& layer : graded.guards->layers) {
    if (!layer.active)
      c.out.paragraph(layer.name + ": " + layer.detail, 11,
                      "  " + c.out.paint(tone::note, "missing"), tone::dim);
  }
}

int grade(context& c, const grade_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const graded_file graded = grade_file(c, l, o);
  const subject& s = graded.what;
  const grade_report& report = graded.report;
  goals_met met{{}, report.points};
  for (const goal_result& g : report.goals)
    if (g.passed.value_or(false)) met.names.push_back(g.what->name);
  remember_own(c, l, s, "grade", report.what, met);
  if (c.as_json) {
    c.print(graded_json(c, graded, l));
    return exit_code_of(report.what);
  }
  if (report.what == verdict::compile) {
    c.say("  " + c.out.paint(tone::bad, "COMPILE") + "  " + s.compile_errors.at(0));
    for (std::size_t i = 1; i < s.compile_errors.size(); ++i)
      c.say("           " + s.compile_errors[i]);
    c.say();
  } else if (report.correctness) {
    show_checks(c, l, *report.correctness);
  }
  if (report.correctness && !report.correctness->correct()) {
    show_finding(c, *report.correctness);
    show_todos(c, l, s.shown);
    c.say();
    if (report.correctness->size) {
      // Under an instructor's key, the inputs cannot be derived from the seed.
      const bool repeats = graded.seed == graded.input_seed;
      c.say(fmt::format("  {}./lab run {}{} --size {}{}", c.out.paint(tone::dim, "again    "),
                        l.name,
                        !o.step.empty()   ? " --step " + o.step
                        : !o.file.empty() ? " --file " + o.file
                                          : "",
                        size_text(*report.correctness->size),
                        repeats ? fmt::format(" --seed {}", graded.seed) : ""));
      c.say();
    }
  }
  show_goals(c, report);
  c.say();
  show_help(c, l, report);
  show_answers(c, l, graded);
  if (!graded.published.empty()) {
    c.out.paragraph(remark_text(graded), 11, "  " + c.out.paint(tone::note, "remark"));
    c.say();
  }
  const std::string points = report.what == verdict::infra
                                 ? "no points: the machine failed, not your file"
                                 : points_text(report.points, report.max_points, l.points());
  c.say(fmt::format("  {}  {}{}", c.out.paint(tone_of(report.what), name_of(report.what)),
                    c.out.paint(tone::strong, points),
                    c.out.paint(tone::dim, fmt::format("   trust: {}, seed {}",
                                                       trust_of(graded.device), graded.seed))));
  show_sandbox(c, graded);
  if (s.shown == l.file.string() && report.what == verdict::pass) show_next(c, l);
  return exit_code_of(report.what);
}

const verb grade_verb(
    {verb_place::group::study, 55}, "grade",
    "compute your points: results, checks, counters, speed",
    "  ./lab grade reduction                 your file\n"
    "  ./lab grade reduction --file try.cu   another file\n"
    "  ./lab grade reduction --seed 1234     repeat a grade with the same inputs\n"
    "  ./lab grade reduction --step 03       a worked solution",
    [](arguments& takes, grade_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add_step("--step", o.step, "a solution step instead of a file");
      takes.add("--seed", o.seed, "seed of the random inputs (new every time)");
      takes.add("--key", o.key, "a key file, which decides the seeds and hidden sizes");
      takes.flag("--practice", o.practice,
                 "grade quickly, and trust what the program reports about itself");
    },
    grade);

}  // namespace

json grade_document(context& c, const lab& l, const grade_options& o) {
  return graded_json(c, grade_file(c, l, o), l);
}

}  // namespace stepwise::cli
