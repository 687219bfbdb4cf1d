// Shows a graded file to people: findings, goals with points, hints, answers, the sandbox.
#include <fmt/core.h>

#include "grader/cli/grade/graded_file.hpp"
#include "grader/cli/own_progress.hpp"
#include "grader/cli/text/term_line.hpp"
#include "grader/report/findings.hpp"
#include "grader/sandbox/sandbox.hpp"

namespace stepwise::cli {
namespace {

// Shows the emulator's findings. Errors fail the submission; the other findings are worth a look.
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
    const bool shown_above = g.what->what == goal::kind::correct ? !yes && !open
                             : g.what->what == goal::kind::checks
                                 ? !yes && found && report.what != verdict::held
                                 : false;
    if (!shown_above && !same_follows) c.out.paragraph(g.message, 17, {}, tone::dim);
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
  // Hints follow the goals' order, but a slow kernel has one main cause.
  const bool is_slow =
      report.what == verdict::slow && std::ranges::any_of(report.goals, [](const goal_result& g) {
        return g.what->is_speed() && g.passed && !*g.passed;
      });
  if (is_slow)
    c.say("  " + c.out.paint(tone::dim, "slow") + "     ./lab profile " + l.name +
          c.out.paint(tone::dim, "   names the main cause"));
  const bool is_fast = report.what == verdict::slow && !is_slow &&
                       std::ranges::any_of(report.goals, [](const goal_result& g) {
                         return g.what->is_speed() && g.passed.value_or(false);
                       });
  if (is_fast)
    c.out.paragraph(
        "every speed goal is met; here, SLOW means that a goal on counted work is not met", 11,
        "  " + c.out.paint(tone::dim, "slow"));
  if (help.number != 0 || !help.terms.empty() || is_slow || is_fast) c.say();
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

}  // namespace

void show_grade(context& c, const lab& l, const grade_options& o, const graded_file& graded) {
  const subject& s = graded.what;
  const grade_report& report = graded.report;
  if (report.what == verdict::compile) {
    c.say("  " + c.out.paint(tone::bad, "COMPILE") + "  " + s.compile_errors.at(0));
    for (std::size_t i = 1; i < s.compile_errors.size(); ++i)
      c.say("           " + s.compile_errors[i]);
    c.say();
  }
  // A wrong result says more than findings that only follow from it.
  const bool result_first =
      report.correctness && report.correctness->found.what == verdict::wrong &&
      !report.correctness->findings.empty() && !has_errors(deciding_findings(*report.correctness));
  const auto show_result = [&] {
    show_finding(c, *report.correctness);
    show_todos(c, l, s.shown);
    c.say();
  };
  if (result_first) show_result();
  if (report.correctness) show_checks(c, l, *report.correctness);
  if (report.correctness && !report.correctness->correct()) {
    if (!result_first) show_result();
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
  const std::string_view name = name_of(report.what);
  const std::string trust = fmt::format("trust: {}, seed {}", trust_of(graded.device), graded.seed);
  const bool fits = 7 + name.size() + points.size() + trust.size() <=
                    static_cast<std::size_t>(c.out.style().width);
  c.say(fmt::format(
      "  {}  {}{}{}", c.out.paint(tone_of(report.what), name), c.out.paint(tone::strong, points),
      fits ? "   " : "\n" + std::string(4 + name.size(), ' '), c.out.paint(tone::dim, trust)));
  show_sandbox(c, graded);
  if (s.shown == l.file.string() && report.what == verdict::pass) show_next(c, l);
}

}  // namespace stepwise::cli
