// lab grade: computes the points, in the judge's sandbox or, with --practice, on trust.
#include "grader/cli/grade/graded_file.hpp"
#include "grader/cli/own_progress.hpp"
#include "grader/cli/verb.hpp"

namespace stepwise::cli {
namespace {

int grade(context& c, const grade_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const graded_file graded = grade_file(c, l, o);
  const grade_report& report = graded.report;
  goals_met met{{}, report.points};
  for (const goal_result& g : report.goals)
    if (g.passed.value_or(false)) met.names.push_back(g.what->name);
  remember_own(c, l, graded.what, "grade", report.what, met);
  if (c.as_json) {
    c.print(graded_json(c, graded, l));
  } else {
    show_grade(c, l, o, graded);
  }
  return exit_code_of(report.what);
}

const verb grade_verb(
    {verb_place::group::write, 50}, "grade",
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
}  // namespace stepwise::cli
