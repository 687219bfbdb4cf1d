#include "grader/judge/grade.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "grader/measure/figures.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

bool is_held(const comparison& run, double floor) {
  return floor > 0 && run.mine_ms < 0.95 * floor;
}

void judge_speed(goal_result& g, const comparison& run, double floor) {
  const std::string figure = fmt::format(
      "{} over {} (95 % interval {} to {}, {} pairs at {})", ratio_text(run.ratio), g.what->over,
      ratio_text(run.range.low), ratio_text(run.range.high), run.ratios.size(), run.label);
  if (is_held(run, floor)) {
    g.message = fmt::format("{} is less than reading the inputs once takes ({}): held for review",
                            time_text(run.mine_ms), time_text(floor));
    return;
  }
  switch (decide(run.range, g.what->at_least)) {
    case decision::above:
      g.passed = true;
      g.points = g.what->points;
      g.message = figure;
      break;
    case decision::below:
      g.passed = false;
      g.message = fmt::format("{}; the goal is {}", figure, ratio_text(g.what->at_least));
      break;
    case decision::open:
      g.message = fmt::format("{}: too close to the goal of {} to decide; measure again", figure,
                              ratio_text(g.what->at_least));
  }
}

}  // namespace

double floor_ms(const problem_call& call, double peak_gb_per_s) {
  if (peak_gb_per_s <= 0) return 0;
  double bytes = 0;
  for (const auto& buffer : call.buffers) {
    if (buffer.role == runner::buffer_role::input) bytes += static_cast<double>(buffer.bytes);
  }
  return bytes / peak_gb_per_s / 1e6;
}

namespace {

// Measures one speed goal of a correct program, and lets the outcome change the report's class.
void grade_speed(goal_result& result, grade_report& report, const lab& l, const problem& p,
                 const contender& mine, const contender& other, const device_choice& device,
                 std::uint64_t seed, const activity& now) {
  const lab_size size = figure_size(l, device, {});
  result.speed = compare(l, p, mine, other, device, size, seed, result.what->at_least, now);
  const comparison& run = *result.speed;
  if (!run.found.ok()) {
    const bool my_fault = run.whose == mine.name;
    report.what = my_fault ? run.found.what : verdict::infra;
    report.message = fmt::format("{} while it was timed: {}", run.whose, run.found.message);
    if (my_fault) result.passed = false;
    result.message = report.message;
    return;
  }
  const double floor = floor_ms(p.make_call(size, seed), device.state.peak_gb_per_s);
  judge_speed(result, run, floor);
  if (is_held(run, floor)) {
    report.what = verdict::held;
  } else if (report.what == verdict::pass && !result.passed) {
    report.what = verdict::inconclusive;
  } else if (report.what == verdict::pass && !*result.passed) {
    report.what = verdict::slow;
  }
  if (!result.passed.value_or(false) && report.message.empty()) report.message = result.message;
}

// What checks found decides, unless the call itself ended in a way that is no mistake in memory or
// order: a wrong result with a race is told as the race.
bool explains(verdict what) {
  return what == verdict::pass || what == verdict::wrong || what == verdict::check ||
         what == verdict::crash || what == verdict::timeout;
}

// The emulator's stand-in, where a GPU judges the rest.
std::optional<device_choice> checking_device(const device_choice& device,
                                             const installation& where) {
  if (!device.gpu) return device;
  if (!fs::exists(where.emulated_runtime / "libcudart.so.13")) return std::nullopt;
  return choose_device(device_request::emulated, where);
}

// Small sizes on the emulator with all checks, then the sizes that are left, or all on a GPU.
check_report grade_correctness(const lab& l, const problem& p, const fs::path& program,
                               const installation& where, const device_choice& device,
                               std::uint64_t seed, const activity& now) {
  const auto checker = checking_device(device, where);
  if (!checker) return check_program(l, p, program, device, l.check, seed, now);
  const auto small = small_sizes(l, p);
  auto report = check_thoroughly(l, p, program, *checker, small, seed, now);
  report.total = l.check.size();
  // That nobody wrote what is copied home is what a wrong result says already.
  auto deciding = report.findings;
  std::erase_if(deciding,
                [](const auto& f) { return f.what.kind == finding_kind::unwritten_copy; });
  if (has_errors(deciding) && explains(report.found.what)) {
    const std::string result = report.found.what == verdict::wrong ? report.found.message : "";
    report.found = {verdict::check, worst_finding(deciding, where.root)};
    if (!result.empty()) report.found.message += "\n" + result;
    return report;
  }
  // A limit of the emulator is none of the GPU's.
  if (!report.correct() && !(device.gpu && report.found.what == verdict::infra)) return report;
  std::vector<lab_size> rest;
  for (const auto& size : l.check) {
    if (device.gpu || std::count(small.begin(), small.end(), size) == 0) rest.push_back(size);
  }
  if (rest.empty()) return report;
  auto findings = std::move(report.findings);
  const auto right_before = device.gpu ? std::vector<std::string>{} : std::move(report.right);
  report = check_program(l, p, program, device, rest, seed, now);
  report.findings = std::move(findings);
  report.total = l.check.size();
  report.right.insert(report.right.begin(), right_before.begin(), right_before.end());
  return report;
}

}  // namespace

grade_report grade_program(const lab& l, const problem& p, const std::string& name,
                           const std::filesystem::path& program,
                           const std::vector<std::string>& compile_errors,
                           const installation& where, const device_choice& device,
                           std::uint64_t seed, const activity& now) {
  grade_report report;
  if (!compile_errors.empty()) {
    report.what = verdict::compile;
    for (const auto& line : compile_errors)
      report.message += (report.message.empty() ? "" : "\n") + line;
  } else {
    report.correctness = grade_correctness(l, p, program, where, device, seed, now);
    report.what = report.correctness->found.what;
    report.message = report.correctness->found.message;
  }
  const bool right = report.what == verdict::pass;
  for (const auto& g : l.goals) {
    goal_result result;
    result.what = &g;
    if (report.what == verdict::infra) {
      result.message = "not graded: " + report.message;
    } else if (g.what == goal::kind::correct) {
      result.passed = right;
      result.points = right ? g.points : 0;
      result.message = right ? fmt::format("all {} sizes", report.correctness->total)
                       : report.what == verdict::compile ? "it does not compile"
                                                         : report.message;
    } else if (!device.gpu) {
      result.message = "not graded here: a speedup is measured on a GPU, and this is the emulator";
    } else if (!right) {
      result.passed = false;
      result.message = "not measured: it must be correct first";
    } else {
      grade_speed(result, report, l, p, {name, program}, {g.over, where.solution(l.name, g.over)},
                  device, seed, now);
    }
    if (result.passed) {
      report.points += result.points;
      report.max_points += g.points;
    }
    report.goals.push_back(std::move(result));
  }
  return report;
}

}  // namespace stepwise
