// lab run: is it right, and what does one call cost?
#include <fmt/format.h>

#include "grader/cli/commands.hpp"
#include "grader/cli/figures_text.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

std::string again(const run_options& o, const check_report& report) {
  std::string command = "./lab run " + o.lab;
  if (!o.file.empty()) command += " --file " + o.file;
  if (!o.step.empty()) command += " --step " + o.step;
  if (report.size) command += " --size " + size_text(*report.size);
  return command + fmt::format(" --seed {}", report.seed);
}

}  // namespace

int run(context& c, const run_options& o) {
  const lab l = load_lab(c.where.root, o.lab);
  const problem& p = problem_of(l);
  const auto wanted = parse_size(l, p, o.size);
  const device_choice device = c.device();
  const subject s = prepare(c, l, o.file, o.step);
  json document = {{"lab", l.name}, {"subject", s.shown}, {"device", device_json(device)}};
  c.say(fmt::format("{} on {}", c.out.paint(tone::strong, s.shown), device.text()));
  c.say();
  if (s.program.empty()) {
    document["figures"] = nullptr;
    return report_compile_errors(c, s, std::move(document));
  }
  const auto sizes = wanted ? std::vector<lab_size>{*wanted} : l.check;
  const auto report = check_program(l, p, s.program, device, sizes, o.seed, c.now());
  document.update(check_json(report));
  document["printed"] = report.printed;
  document["figures"] = nullptr;
  if (!report.correct()) {
    if (c.as_json) {
      c.print(document);
    } else {
      show_finding(c, report);
      show_todos(c, s.shown);
      c.say();
      c.say("  " + c.out.paint(tone::dim, "again    ") + again(o, report));
    }
    return exit_code_of(report.found.what);
  }
  c.say(fmt::format("  {}  {}", c.out.paint(tone::good, "correct"), right_text(c, report)));
  const auto f =
      measure_program(l, p, s.program, device, figure_size(l, device, wanted), o.seed, c.now());
  document["figures"] = figures_json(f);
  if (!f.found.ok()) {
    document["class"] = name_of(f.found.what);
    document["message"] = f.found.message;
    document["correct"] = false;
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
    show_finding(c, failed);
    return exit_code_of(f.found.what);
  }
  c.say();
  show_figures(c, f, device);
  show_printed(c, report.printed);
  return 0;
}

}  // namespace stepwise::cli
