// Compares figures with a goal's limit, and describes both in a sentence.
#include "grader/grade/goal_text.hpp"

#include <fmt/core.h>

#include "grader/measure/figures.hpp"
#include "grader/report/text.hpp"

namespace stepwise {
namespace {

// A file may be slow because of its host code rather than its kernels.
std::string host_text(const comparison& run) {
  if (run.host_ms < worth_saying * run.mine_ms) return {};
  return fmt::format("; {} of its {} are spent on the host", time_text(run.host_ms),
                     time_text(run.mine_ms));
}

void judge_speed(goal_result& g, const comparison& run, double floor) {
  const bool is_fraction = g.what->what == goal::kind::reach;
  const std::string figure =
      fmt::format("{} {} {} (99 % interval {} to {}, {} pairs at {})", ratio_text(run.ratio),
                  is_fraction ? "the speed of" : "over", g.what->over, ratio_text(run.range.low),
                  ratio_text(run.range.high), run.ratios.size(), run.label);
  if (run.is_held(floor)) {
    g.message =
        fmt::format("{} is less than the time to read the inputs once ({}): held for review",
                    time_text(run.mine_ms), time_text(floor));
    return;
  }
  switch (decide(run.range, g.what->limit)) {
    case decision::above:
      g.passed = true;
      g.message = figure;
      break;
    case decision::below:
      g.passed = false;
      g.message =
          fmt::format("{}; the goal is {}{}", figure, ratio_text(g.what->limit), host_text(run));
      break;
    case decision::open:
      g.message =
          fmt::format("{}: too close to the goal of {} to decide{}{}{}; measure again", figure,
                      ratio_text(g.what->limit), run.is_out_of_time ? " in the available time" : "",
                      run.attempts > 1 ? ", even at the second attempt" : "", host_text(run));
  }
}

}  // namespace

double floor_ms(const problem_call& call, double peak_gb_per_s) {
  double bytes = 0;
  for (const auto& buffer : call.buffers) {
    if (buffer.role == runner::buffer_role::input) bytes += static_cast<double>(buffer.bytes);
  }
  return floor_ms(bytes, peak_gb_per_s);
}

void judge_measured(goal_result& result, grade_report& report, const comparison& run,
                    const std::string& mine, double peak_gb_per_s) {
  result.speed = run;
  if (!run.found.ok()) {
    const bool my_fault = run.whose == mine;
    report.what = my_fault ? run.found.what : verdict::infra;
    report.message = fmt::format("{} during timing: {}", run.whose, run.found.message);
    if (my_fault) result.passed = false;
    result.message = report.message;
    return;
  }
  const double floor = floor_ms(run.input_bytes, peak_gb_per_s);
  judge_speed(result, run, floor);
  if (run.is_held(floor)) {
    report.what = verdict::held;
  } else if (report.what == verdict::pass && !result.passed) {
    report.what = verdict::inconclusive;
  } else if (report.what == verdict::pass && !*result.passed) {
    report.what = verdict::slow;
  }
  if (!result.passed.value_or(false) && report.message.empty()) report.message = result.message;
}

std::string counter_message(const goal_result& g, const std::string& label) {
  const goal& what = *g.what;
  if (g.counted->too_little_shared)
    return fmt::format(
        "shared memory holds {:.2g} of the data at {}, but {:g} is required, so the figure does "
        "not count",
        *g.counted->too_little_shared, label, what.least_shared);
  if (!g.counted->value) return fmt::format("{} at {}", what.counter->absent, label);
  std::string text = in_words(*what.counter, *g.counted->value) + " at " + label;
  if (*g.passed) return text;
  text += fmt::format("; the goal is at {} {:g}", what.side == bound::at_most ? "most" : "least",
                      what.limit);
  if (g.counted->of_transfers > worth_saying * *g.counted->value)
    return text + fmt::format("; copies and fills on the device add {:.4g} of it",
                              g.counted->of_transfers);
  if (const std::uint64_t threads = g.counted->threads_of_block; threads != 0)
    return text + fmt::format("; a block of {} thread{} leaves {} lanes of its last warp idle",
                              threads, threads == 1 ? "" : "s", 32 - threads % 32);
  if (g.counted->too_active > 0)
    text += fmt::format(
        "; the kernel has {:.3g} active lanes per byte of the task, but at most {:g} count here, "
        "so "
        "that useless instructions cannot raise the share",
        g.counted->too_active, what.most_active);
  const code_place& line = g.counted->costliest;
  if (line.line != 0) {
    text += fmt::format("; line {} of {} costs the most", line.line, line.file);
    if (!line.text.empty()) text += ": " + line.text;
  }
  return text;
}

}  // namespace stepwise
