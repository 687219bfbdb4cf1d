// Assembles the sections, or explains why there are none.
#include "grader/cli/profile/program_text.hpp"

#include "grader/cli/text/analysis_text.hpp"
#include "grader/cli/text/page.hpp"

namespace stepwise::cli {
namespace {

modelled_figures figures_of(const program_profile& of) {
  modelled_figures m;
  m.gpu = of.model.name;
  m.kernels = of.kernels;
  m.time_ms = time_us(of.kernels) / 1000;
  return m;
}

profile_view costliest_of(const program_profile& of, const modelled_figures& m) {
  return view_of(m, *by_kernel(m.kernels).front().configurations.front(), of.model);
}

void add(page& p, const std::vector<std::string>& section) {
  p.line();
  for (const std::string& line : section) p.line(line);
}

}  // namespace

std::string program_profile::why_none() const {
  if (!failed.empty()) return "no times, because a kernel failed: " + failed;
  if (kernels.empty())
    return "nothing to profile: the program launched no kernel, or did not end with exit()";
  return time_us(kernels) > 0 ? "" : "the time model gives no time for these kernels";
}

std::vector<std::string> program_lines(const program_profile& of, const terminal_style& style) {
  page p(style);
  if (const std::string why = of.why_none(); !why.empty()) {
    p.line(why);
    if (!of.failed.empty()) p.line("For details: ./lab exec --check " + of.program + " ");
    return p.take();
  }
  const modelled_figures m = figures_of(of);
  const profile_view v = costliest_of(of, m);
  p.line(style.paint(tone::strong, of.program + ": modelled, " + of.model.name));
  add(p, launched_lines(v, style));
  add(p, limit_lines(v, style));
  add(p, branch_lines(v, style));
  add(p, advice_lines(v, style));
  p.line();
  p.plain_paragraph(
      of.model.measured.empty()
          ? "modelled from published figures of the " + of.model.name +
                ", not compared with measured times"
          : "modelled; the error for this program is unknown (common/emulator/time/ACCURACY.md has "
            "the model's errors for the course's own kernels)",
      tone::dim);
  return p.take();
}

json program_json(const program_profile& of) {
  const bool timed = of.why_none().empty();
  const modelled_figures m = figures_of(of);
  json document = {{"time_ms", timed ? json(m.time_ms) : json(nullptr)},
                   {"time_kind", timed ? "modelled" : "none"},
                   {"modelled_as", of.model.name},
                   {"message", of.why_none()},
                   {"failed", of.failed.empty() ? json(nullptr) : json(of.failed)}};
  if (!timed) return document;
  const profile_view v = costliest_of(of, m);
  document["launched"] = launched_json(v);
  document["analysis"] = analysis_json(v.costliest);
  document["advice"] = advice_json(v);
  return document;
}

}  // namespace stepwise::cli
