// Grades a file: draws its inputs, compiles and runs it, and looks for answers and copied steps.
#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/grade/graded_file.hpp"
#include "grader/course/same_code.hpp"
#include "grader/grade/memory.hpp"
#include "grader/grade/withheld.hpp"
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
  std::optional<file_lock> lock;
  const auto lock_gpu = [&] {
    if (lock) return;
    lock.emplace(gpu_lock_file(graded.device.state), waiting_for_gpu(c));
    if (!graded.device.judged()) return;
    c.busy.doing("preparing the GPU");
    graded.care = look_after_gpu(graded.device);
    graded.device.walls = graded.care->walls;
  };
  const auto once = [&](std::uint64_t reserved) {
    graded.device.memory = limits_within(reserved, need);
    return grade_program(l, p, graded.what.shown, graded.what.program, graded.what.compile_errors,
                         c.where, graded.device, graded.input_seed, c.now(), lock_gpu,
                         &*graded.budget);
  };
  grade_report report = once(memory.take(need.all));
  if (report.what != verdict::memory || graded.device.gpu) return report;
  const std::uint64_t all = memory.take_all(most_bytes_to_run);
  return all > 0 ? once(all) : std::move(report);
}

}  // namespace

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

}  // namespace stepwise::cli
