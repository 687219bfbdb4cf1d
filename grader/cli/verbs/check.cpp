// lab check: runs a lab's program on its small sizes, with all of the emulator's checks on.
#include <fmt/core.h>

#include "grader/cli/context.hpp"
#include "grader/cli/own_progress.hpp"
#include "grader/cli/text/term_line.hpp"
#include "grader/cli/verb.hpp"
#include "grader/report/findings.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

struct check_options {
  std::string lab, file, step, size;
  std::uint64_t seed = 7;
};

device_choice the_emulator(const context& c) {
  if (c.request == device_request::gpu) {
    throw failure(exit_code::usage,
                  "the checks are the emulator's; on a GPU, compute-sanitizer has some of them: "
                  "`./lab env` shows how to run the program by hand");
  }
  return choose_device(device_request::emulated, c.where);
}

int check(context& c, const check_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  const auto wanted = parse_size(l, p, o.size);
  const device_choice device = the_emulator(c);
  const subject s = prepare(c, l, o.file, o.step);
  json document = {{"lab", l.name}, {"subject", s.shown}, {"device", device_json(device)}};
  show_subject(c, s.shown, "on " + device.text() + ", with all checks");
  c.say();
  document["compiler_warnings"] = warnings_json(s.warnings);
  if (s.program.empty()) {
    document.update(findings_json({}));
    remember_own(c, l, s, "check", verdict::compile);
    return report_compile_errors(c, s, std::move(document));
  }
  show_warnings(c, s.warnings);
  warn_of_refusals(c, l, p, s.shown, document);
  const auto sizes = wanted ? std::vector<lab_size>{*wanted} : small_sizes(l, p);
  const auto report = check_thoroughly(l, p, s.program, device, sizes, o.seed, c.now());
  document.update(check_json(report));
  document.update(findings_json(report.findings));
  const bool fine = report.correct() && report.findings.empty();
  const int code = !fine && report.found.what == verdict::infra
                       ? exit_code_of(verdict::infra)
                       : static_cast<int>(fine ? exit_code::fine : exit_code::student);
  if (!wanted || !fine)
    remember_own(c, l, s, "check", report.correct() && !fine ? verdict::check : report.found.what);
  if (c.as_json) {
    c.print(document);
    return code;
  }
  // A wrong result says more than findings that only follow from it.
  const bool result_first =
      report.found.what == verdict::wrong && !has_errors(deciding_findings(report));
  if (result_first) {
    show_finding(c, report);
    c.say();
  }
  show_findings(c, report);
  if (const std::string terms = explain_text(terms_of(report.findings)); !terms.empty())
    c.say("  " + c.out.paint(tone::dim, "terms    ") + terms);
  if (report.correct()) {
    c.say(fmt::format("  {}  {}", c.out.paint(tone::good, "correct"), right_text(c, report)));
  } else {
    if (!result_first) show_finding(c, report);
    show_todos(c, l, s.shown);
  }
  if (code == 0 && s.shown == l.file.string()) show_next(c, l);
  return code;
}

const verb check_verb(
    {verb_place::group::write, 40}, "check",
    "find races, out-of-bounds accesses and misused barriers",
    "  ./lab check reduction                      your file, small sizes\n"
    "  ./lab check reduction --size 1023 --seed 7 one size\n"
    "  ./lab check reduction --step 03            a worked solution\n"
    "  ./lab check reduction --json               for programs, see grader/JSON.md",
    [](arguments& takes, check_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add_step("--step", o.step, "a solution step instead of a file");
      takes.add("--size", o.size, "one size only, like 1023 or 512x256");
      takes.add("--seed", o.seed, "of the random inputs (7)");
    },
    check);

}  // namespace
}  // namespace stepwise::cli
