// Shows the data about the steps that a student copy has, and checks and times the student's file.
#include "grader/cli/text/given_walk.hpp"

#include <fmt/core.h>

#include "grader/cli/own_progress.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/course/given.hpp"
#include "grader/grade/grade.hpp"
#include "grader/model/modelled.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

struct walked_file {
  subject what;
  check_report report;
  modelled_figures m;

  verdict found() const {
    return what.program.empty() ? verdict::compile
           : report.correct()   ? m.found.what
                                : report.found.what;
  }
};

walked_file examine(context& c, const lab& l, const device_choice& emulator, std::uint64_t seed) {
  const problem& p = problem_of(l, c.where);
  walked_file mine;
  mine.what = prepare(c, l, "", "");
  if (mine.what.program.empty()) return mine;
  mine.report = check_program(l, p, mine.what.program, emulator, l.check, seed, c.now());
  if (mine.report.correct()) {
    mine.m = model_program(l, p, mine.what.program, l.modelled.back(), seed_of_modelled_calls,
                           emulator, c.now());
    mine.m.drop_doubtful_time();
  }
  return mine;
}

json document_of(const lab& l, const given_times& times) {
  return {{"lab", l.name},
          {"student_copy", true},
          {"time_size", times.size},
          {"modelled_as", times.gpu},
          {"steps", json::array()}};
}

json step_json(const step& s, const given_times& times, const fs::path& root) {
  const auto ms = times.ms.find(s.name);
  return {{"name", s.name},
          {"over", s.over.empty() ? json(nullptr) : json(s.over)},
          {"idea", s.idea},
          {"time_ms", ms == times.ms.end() ? json(nullptr) : json(ms->second)},
          {"skeleton", fs::exists(root / s.file)}};
}

json document_of(const lab& l, const given_times& times, const walked_file& mine,
                 const fs::path& root) {
  json document = document_of(l, times);
  for (const step& s : l.steps) document["steps"].push_back(step_json(s, times, root));
  document["mine"] = {{"file", l.file.string()},
                      {"class", name_of(mine.found())},
                      {"time_ms", mine.m.timed() ? json(mine.m.time_ms) : json(nullptr)}};
  return document;
}

void show_steps(context& c, const lab& l, const given_times& times, const walked_file& mine) {
  std::vector<std::vector<cell>> rows;
  for (const step& s : l.steps) {
    const auto ms = times.ms.find(s.name);
    rows.push_back({{s.name},
                    {ms == times.ms.end() ? "" : time_text(ms->second)},
                    {fs::exists(c.where.root / s.file) ? "yes" : ""},
                    {s.idea, tone::dim}});
  }
  rows.push_back(
      {{"your file", tone::strong},
       {mine.m.timed() ? time_text(mine.m.time_ms) : ""},
       {""},
       {mine.m.found.ok() && mine.m.timed() ? "" : std::string(name_of(mine.found())), tone::bad}});
  c.table({{"step"}, {"modelled", true}, {"skeleton"}, {"idea", false, true, true, true}}, rows);
}

}  // namespace

int show_given(context& c, const lab& l, const step& s) {
  const given_times times = load_given_times(c.where.root, l);
  if (c.as_json) {
    json document = document_of(l, times);
    document["steps"].push_back(step_json(s, times, c.where.root));
    return c.print(document), 0;
  }
  const auto labelled = [&](const char* label, const std::string& text) {
    c.out.paragraph(text, 12, "  " + c.out.paint(tone::dim, label));
  };
  c.out.paragraph(s.idea, s.name.size() + 2, c.out.paint(tone::strong, s.name));
  c.say();
  if (const auto ms = times.ms.find(s.name); ms != times.ms.end())
    labelled("modelled", fmt::format("{}, one call at size {} on an {}", time_text(ms->second),
                                     size_text(times.size), times.gpu));
  if (fs::exists(c.where.root / s.file))
    labelled("skeleton", "./lab start " + l.name + " " + s.name);
  labelled("code", "not in this student copy; ask your instructor");
  labelled("compare", "./lab walk " + l.name + " shows all steps and your file");
  return 0;
}

int walk_given(context& c, const lab& l, const std::string& gpu_id, std::uint64_t seed) {
  const given_times times = load_given_times(c.where.root, l);
  const gpu model = stand_for(c, gpu_id);
  const device_choice emulator = choose_device(device_request::emulated, c.where);
  const walked_file mine = examine(c, l, emulator, seed);
  if (c.as_json) {
    c.print(document_of(l, times, mine, c.where.root));
    return exit_code_of(mine.found());
  }
  c.say(fmt::format("{}: the ideas of its {} steps, and your file",
                    c.out.paint(tone::strong, l.title), l.steps.size()));
  c.say();
  show_steps(c, l, times, mine);
  c.say();
  c.out.paragraph(
      fmt::format("Times are modelled for the steps that the goals name: one call at size {} on an "
                  "{}. The code of the steps is not in this student copy.",
                  size_text(times.size), times.gpu),
      0, "", tone::dim);
  if (mine.m.timed() && mine.m.gpu != times.gpu)
    c.out.paragraph("Your file's time is modelled for an " + mine.m.gpu + ".", 0, "", tone::dim);
  show_next(c, l);
  return exit_code_of(mine.found());
}

}  // namespace stepwise::cli
