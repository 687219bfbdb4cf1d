// Examines a program once, and then judges its goals in order. The first missed goal sets the
// verdict.
#include "grader/grade/grade.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "grader/course/given.hpp"
#include "grader/grade/correctness.hpp"
#include "grader/grade/goal_text.hpp"
#include "grader/grade/library_kernels.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/outcomes.hpp"
#include "grader/measure/figures.hpp"
#include "grader/measure/profiled.hpp"
#include "grader/model/kept_times.hpp"
#include "grader/model/modelled.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"
#include "grader/system/phases.hpp"

namespace stepwise {
namespace {

constexpr double seconds_for_a_whole_call = 300;  // every block runs

// Hidden work is judged by the time that it may add, however short its kernel seems.
bool is_worth_a_look(double us, const modelled_figures& m) { return us > 0.1 * 1000 * m.time_ms; }

// The kernel with a block that may take longer than the whole kernel's modelled time, or null.
const kernel_profile* kernel_with_a_long_block(const modelled_figures& m) {
  constexpr double most_longer = 2;
  const auto found = std::ranges::find_if(m.kernels, [&](const kernel_profile& k) {
    const kernel_timing& t = k.timing;
    return t.longest_block_us > most_longer * t.us && is_worth_a_look(t.longest_block_us - t.us, m);
  });
  return found != m.kernels.end() ? &*found : nullptr;
}

// The reason that the sampled blocks do not represent the other blocks. Empty if they may represent
// them.
std::string why_unlike(const modelled_figures& m) {
  constexpr double least_likeness = 0.6;
  for (const kernel_profile& k : m.kernels) {
    const kernel_timing& t = k.timing;
    if (t.likeness < least_likeness && is_worth_a_look(t.us / std::max(t.likeness, 1e-9) - t.us, m))
      return "the blocks used for the modelled time do much less work than the others";
  }
  const kernel_profile* const k = kernel_with_a_long_block(m);
  if (k == nullptr) return {};
  return fmt::format(
      "{} has a block with far more work than the others: that block alone may take {}, but the "
      "modelled time of the whole kernel is {}",
      k->kernel, time_text(k->timing.longest_block_us / 1000), time_text(k->timing.us / 1000));
}

// The state of a submission that is being graded by a lab's goals.
class grading {
 public:
  grading(const lab& l, const problem& p, const contender& mine, const installation& where,
          const device_choice& device, std::uint64_t seed, const activity& now,
          const std::function<void()>& before_gpu, time_budget& budget)
      : lab_(l),
        problem_(p),
        mine_(mine),
        where_(where),
        device_(device),
        seed_(seed),
        now_(now),
        before_gpu_(before_gpu),
        budget_(budget) {}

  grade_report run(const std::vector<std::string>& compile_errors) {
    try {
      examine(compile_errors);
    } catch (const out_of_time& error) {
      report_.what = verdict::timeout;
      report_.message = error.what();
      report_.correctness.emplace().found = {report_.what, report_.message};
    }
    right_ = report_.what == verdict::pass;
    for (const auto& g : lab_.goals) {
      goal_result result;
      result.what = &g;
      try {
        judge(result);
      } catch (const out_of_time& error) {
        result.message = error.what();
        miss_for_time(result);
      }
      report_.goals.push_back(std::move(result));
    }
    for (goal_result& g : report_.goals) require_needed(g);
    for (goal_result& g : report_.goals) {
      if (!g.passed) continue;
      if (*g.passed) g.points = g.what->points;
      report_.points += g.points;
      report_.max_points += g.what->points;
    }
    if (overturned_) take_all_back();
    if (!library_kernel_.empty()) hold_for_library();
    return std::move(report_);
  }

 private:
  void examine(const std::vector<std::string>& compile_errors) {
    if (compile_errors.empty()) {
      {
        charged_time charged(budget_, now_);
        report_.correctness = grade_correctness(lab_, problem_, mine_.program, where_, device_,
                                                seed_, charged.now(), report_.checked, [&] {
                                                  charged.pause();
                                                  before_gpu_();
                                                  charged.resume();
                                                });
      }
      settle_blame(report_.correctness->found);
      report_.what = report_.correctness->found.what;
      report_.message = report_.correctness->found.message;
      return;
    }
    report_.what = verdict::compile;
    report_.message = joined(compile_errors, "\n");
  }

  // Times are measured if there is a GPU and the steps to compare with; otherwise, they are
  // modelled.
  bool measures() const { return device_.gpu && lab_.is_worked; }
  // A program of the course that starts: the lab's first step. A student copy only has the lab's
  // skeleton, which also starts, although its result is wrong.
  fs::path program_that_starts() const {
    if (lab_.steps.empty()) return {};
    if (lab_.is_worked) return where_.solution(lab_.name, lab_.steps.front().name);
    const fs::path skeleton = where_.root / find_step(lab_, lab_.skeleton).file;
    return compile_submission(lab_, skeleton, where_, {now_.doing, now_.tick}, {}).program;
  }

  // The verdict remains INFRA if a program of the course fails here, too. Otherwise, the
  // submission's program is at fault, no matter what it reports.
  void settle_blame(call_outcome& found) const {
    if (found.what != verdict::infra) return;
    const fs::path ours = program_that_starts();
    if (ours.empty() || !fs::exists(ours)) return;
    if (device_.gpu) before_gpu_();
    const auto probe =
        check_program(lab_, problem_, ours, device_, {lab_.check.front()}, seed_, now_).found;
    if (lab_.is_worked ? !probe.ok() : probe.message.starts_with(could_not_start)) return;
    found.what = verdict::crash;
    found.message += "; a step of the course does run here";
  }

  // A program that was right at every check size cannot be judged at a larger size.
  void hold(goal_result& g, const std::string& why) {
    g.message = why + ": held for review";
    if (report_.what != verdict::pass && report_.what != verdict::slow) return;
    report_.what = verdict::held;
    report_.message = g.message;
  }

  // A call for counters or times contradicts the checks, so no goal is met.
  void overturn(call_outcome found, const std::string& label, const lab_size& size) {
    // The message of a wrong result already names the call.
    if (found.message.find(label) == std::string::npos)
      found.message = fmt::format("at {}, after correct results at all {} check sizes: {}", label,
                                  report_.correctness->total, found.message);
    overturned_ = found;
    report_.correctness->found = std::move(found);
    report_.correctness->label = label;
    report_.correctness->size = size;
  }

  // Overturns the checks if a call at a speed size failed. A call that takes too long may still be
  // right.
  void overturn_by(const call_outcome& found, const std::string& label, const lab_size& size) {
    if (found.ok() || found.is_open() || found.what == verdict::timeout) return;
    overturn(found, label, size);
  }

  // Handles a failed timed call of the submission.
  void settle_timing(goal_result& g) {
    call_outcome& found = g.speed->found;
    if (found.what == verdict::infra) {
      settle_blame(found);
      report_.what = found.what;
      report_.message = g.message = found.message;
    }
    overturn_by(found, g.speed->label, figure_size(lab_, device_, {}));
  }

  void take_all_back() {
    report_.what = overturned_->what;
    report_.message = overturned_->message;
    report_.points = 0;
    for (goal_result& g : report_.goals) {
      if (!g.passed.value_or(false)) continue;
      g.passed = false;
      g.points = 0;
      g.message = g.what->what == goal::kind::correct
                      ? report_.message
                      : "not judged: the results must be correct first";
    }
  }

  // Looks for library kernels in any call that was counted or timed.
  void look_for_library(const std::vector<kernel_profile>& kernels) {
    if (!lab_.library_kernels_earn && library_kernel_.empty())
      library_kernel_ = library_kernel(kernels, where_.root);
  }

  void hold_for_library() {
    if (report_.points == 0) return;
    report_.what = verdict::held;
    report_.points = 0;
    report_.message = fmt::format(
        "the library kernel {} does the whole exercise of this lab: held for review (CUB's block "
        "and warp primitives are allowed)",
        library_kernel_);
    for (goal_result& g : report_.goals) g.points = 0;
  }

  void judge(goal_result& g) {
    const goal::kind kind = g.what->what;
    if (report_.what == verdict::infra) {
      g.message = "not graded: " + report_.message;
    } else if (kind == goal::kind::correct) {
      g.passed = right_;
      g.message = right_ ? fmt::format("all {} sizes", report_.correctness->total)
                  : report_.what == verdict::compile ? "it does not compile"
                                                     : report_.message;
    } else if (g.what->is_speed() && !measures() && g.what->modelled == 0) {
      g.message = device_.gpu ? "not graded here: this speed is measured against a worked step"
                              : "not graded here: this speed is measured only on a GPU";
    } else if (!right_) {
      g.passed = false;
      g.message = "not judged: the results must be correct first";
    } else if (kind == goal::kind::checks) {
      judge_checks(g);
    } else if (has_errors(report_.correctness->findings)) {
      g.passed = false;
      g.message = "not judged: the checks must first find no errors";
    } else if (kind == goal::kind::counter) {
      judge_counter(g);
    } else if (!measures()) {
      judge_modelled(g);
    } else {
      judge_measured(g, report_, measured_against(g.what->over), mine_.name,
                     device_.state.peak_gb_per_s);
      if (g.speed->whose == mine_.name) settle_timing(g);
    }
  }

  // A goal is missed because of the submission.
  void miss(goal_result& g, verdict what) {
    g.passed = false;
    if (report_.what == verdict::pass) report_.what = what;
    if (report_.message.empty()) report_.message = g.message;
  }

  // The other goals are unaffected, as after a call that takes too long.
  void miss_for_time(goal_result& g) {
    miss(g, verdict::timeout);
    if (report_.what != verdict::slow) return;
    report_.what = verdict::timeout;
    report_.message = g.message;
  }

  void judge_checks(goal_result& g) {
    const auto& findings = report_.correctness->findings;
    if (!findings.empty()) {
      g.message = worst_finding(findings, where_.root);
      if (const std::string& large = report_.correctness->large; !large.empty())
        g.message = fmt::format("at {}, after no findings at {} small sizes: {}", large,
                                small_sizes(lab_, problem_).size(), g.message);
      miss(g, verdict::check);
    } else if (!report_.checked) {
      g.message = "not graded here: the checks need the emulator, which cannot run this program";
    } else {
      g.passed = true;
      g.message = fmt::format("no findings at {} sizes", small_sizes(lab_, problem_).size());
    }
  }

  // A figure that is good only because the kernel does little of the work earns no points.
  void require_needed(goal_result& g) {
    if (g.what->needs.empty() || !g.passed.value_or(false)) return;
    const auto other =
        std::find_if(report_.goals.begin(), report_.goals.end(),
                     [&](const goal_result& o) { return o.what->name == g.what->needs; });
    if (other->passed.value_or(false)) return;
    g.message += fmt::format("; it earns points only if \"{}\" is also met", g.what->needs);
    miss(g, verdict::slow);
  }

  void judge_counter(goal_result& g) {
    const profiled_call* const call = counted_call(g.what->size);
    if (call == nullptr) {
      g.message = "not graded here: the counters need the emulator, which is not built";
    } else if (call->found.is_open()) {
      hold(g, "its counters cannot be measured: " + call->found.message);
    } else if (!call->found.ok()) {
      g.message = fmt::format("while counting at {}: {}", call->label, call->found.message);
      miss(g, call->found.what);
      if (call->found.what == verdict::wrong) overturn(call->found, call->label, g.what->size);
    } else {
      if (const kernel_profile* k = uncounted_kernel(call->kernels))
        return hold(g, uncounted_text(*k));
      g.counted = figure_of(*g.what, call->kernels, call->transfers, problem_.work(g.what->size));
      const auto& value = g.counted->value;
      g.passed = value && (g.what->side == bound::at_most ? *value <= g.what->limit
                                                          : *value >= g.what->limit);
      g.message = counter_message(g, call->label);
      if (!*g.passed) miss(g, verdict::slow);
    }
  }

  // All steps that goals name are measured in the same rounds.
  const comparison& measured_against(const std::string& step) {
    if (measured_.empty()) {
      const phase doing("timing");
      std::map<std::string, rival> rivals;
      for (const auto& g : lab_.goals) {
        if (!g.is_speed()) continue;
        rival& r = rivals[g.over];
        r.who = {g.over, where_.solution(lab_.name, g.over)};
        r.goals.push_back(g.limit);
      }
      std::vector<rival> all;
      for (const auto& [name, r] : rivals) all.push_back(r);
      charged_time charged(budget_, now_);
      auto found = compare(lab_, problem_, mine_, all, device_, figure_size(lab_, device_, {}),
                           seed_, charged.now());
      for (std::size_t i = 0; i < all.size(); ++i) measured_[all[i].who.name] = std::move(found[i]);
    }
    return measured_.at(step);
  }

  // Judges a goal by the time model, which gives the same times for every seed of the checks.
  void judge_modelled(goal_result& g) {
    const auto& [other_ms, why_none] = modelled_step(g.what->over);
    if (other_ms == 0) {
      g.message = "not graded here, because there is no modelled time: " + why_none;
      return;
    }
    const modelled_figures& mine = my_modelled_call(other_ms, g.what->modelled);
    if (overturned_) return;
    if (uncounted_kernel(mine.kernels) != nullptr) return hold(g, mine.why_no_time());
    if (mine.found.is_open())
      return hold(g, fmt::format("it has no time at {}: {}", mine.label, mine.found.message));
    if (!mine.timed()) {
      g.message = fmt::format("during timing at {}: {}", mine.label, mine.why_no_time());
      return miss(g, mine.found.ok() ? verdict::slow : mine.found.what);
    }
    g.modelled = {other_ms / mine.time_ms, mine.time_ms, other_ms, mine.size, mine.gpu};
    const bool is_fraction = g.what->what == goal::kind::reach;
    g.message = fmt::format("{} {} {} (modelled, {}, {})", ratio_text(g.modelled->ratio),
                            is_fraction ? "the speed of" : "over", g.what->over, mine.gpu,
                            without_seed(mine.label));
    const double floor = mine.floor_ms();
    if (mine.time_ms < 0.95 * floor) {
      g.message = fmt::format("{} is less than reading the inputs once takes ({}): held for review",
                              time_text(mine.time_ms), time_text(floor));
      report_.what = verdict::held;
      report_.message = g.message;
      return;
    }
    g.passed = g.modelled->ratio >= g.what->modelled;
    if (const std::string why = *g.passed ? why_unlike(mine) : ""; !why.empty()) {
      g.passed.reset();
      return hold(g, why);
    }
    if (*g.passed) return;
    g.message += fmt::format("; the goal is {}", ratio_text(g.what->modelled));
    if (const double ms = mine.transfers.us / 1000; ms > worth_saying * mine.time_ms)
      g.message += fmt::format("; copies and fills on the device take {} of its {}", time_text(ms),
                               time_text(mine.time_ms));
    if (const std::string idle = idle_blocks_text(mine.kernels); !idle.empty())
      g.message += "; " + idle;
    else if (const std::string doubles = doubles_text(mine.kernels); !doubles.empty())
      g.message += "; " + doubles;
    miss(g, verdict::slow);
  }

  // A sample of the blocks suffices to miss a goal, but its results mean nothing. A goal is met
  // only by the time of a correct call with all blocks and this grade's inputs, so omitting work
  // where only time is measured gains nothing. The sample must meet the goal, too, because a call
  // of all blocks that an earlier goal requested may be a few % faster, and the step's time is that
  // of a sample.
  const modelled_figures& my_modelled_call(double other_ms, double least_ratio) {
    const modelled_figures& sample = my_sample();
    const auto emulator = checking_device(device_, where_);
    const bool misses = sample.timed() && other_ms / sample.time_ms < least_ratio;
    if (misses || !emulator) return sample;
    if (!my_whole_) {
      const phase doing("modelled time, of all blocks");
      // With rare random inputs, an honest kernel has one block with much work. Other
      // inputs rarely cause that again, but a block that does the work of others has it with all
      // inputs.
      constexpr std::uint64_t most_inputs = 3;
      for (std::uint64_t drawn = 0; drawn < most_inputs; ++drawn) {
        charged_time charged(budget_, now_);
        my_whole_ =
            model_program(lab_, problem_, mine_.program, lab_.modelled.back(), seed_ + drawn,
                          *emulator, charged.now(), seconds_for_a_whole_call, what_ifs::left_out,
                          launches_are::whole, outputs_are::compared, seed_ + drawn);
        if (!my_whole_->timed() || kernel_with_a_long_block(*my_whole_) == nullptr) break;
      }
      settle_blame(my_whole_->found);
      look_for_library(my_whole_->kernels);
      overturn_by(my_whole_->found, my_whole_->label, my_whole_->size);
    }
    return *my_whole_;
  }

  const modelled_figures& my_sample() {
    if (!my_sample_) {
      const phase doing("modelled time, of a sample");
      {
        charged_time charged(budget_, now_);
        my_sample_ = modelled(mine_.program, charged.now());
      }
      settle_blame(my_sample_->found);
      look_for_library(my_sample_->kernels);
    }
    return *my_sample_;
  }

  // For a step of the course: its time in ms, or 0 and the reason.
  const std::pair<double, std::string>& modelled_step(const std::string& name) {
    const auto [known, is_new] = step_times_.try_emplace(name);
    if (!is_new) return known->second;
    const fs::path program = where_.solution(lab_.name, name);
    const auto& size = lab_.modelled.back();
    if (!lab_.is_worked) {
      const std::string& gpu = my_sample().gpu;
      if (!given_) given_ = load_given_times(where_.root, lab_);
      known->second.first = given_->find(name, gpu, size, seed_of_modelled_calls).value_or(0);
      known->second.second =
          fmt::format("this student copy has no recorded time of {} for {} on an {}", name,
                      size_text(size), gpu);
    } else if (const auto kept = kept_times_.find(program, size, seed_of_modelled_calls)) {
      known->second.first = *kept;
    } else if (const modelled_figures call = modelled(program, now_); call.timed()) {
      known->second.first = call.time_ms;
      kept_times_.keep(program, size, seed_of_modelled_calls, call.time_ms);
    } else {
      known->second.second = call.why_no_time();
    }
    return known->second;
  }

  modelled_figures modelled(const fs::path& program, const activity& now) const {
    const auto emulator = checking_device(device_, where_);
    if (!emulator) {
      modelled_figures none;
      none.found = {verdict::infra, "the emulator is not built"};
      return none;
    }
    return model_program(lab_, problem_, program, lab_.modelled.back(), seed_of_modelled_calls,
                         *emulator, now);
  }

  // Each size is counted once. Null without the emulator.
  const profiled_call* counted_call(const lab_size& size) {
    const auto known = calls_.find(size);
    if (known != calls_.end()) return &known->second;
    const auto emulator = checking_device(device_, where_);
    if (!emulator) return nullptr;
    const phase doing("counters on the emulator");
    profiled_call call;
    {
      charged_time charged(budget_, now_);
      call = profile_program(lab_, problem_, mine_.program, size, seed_, *emulator, charged.now());
    }
    settle_blame(call.found);
    look_for_library(call.kernels);
    return &calls_.emplace(size, std::move(call)).first->second;
  }

  const lab& lab_;
  const problem& problem_;
  const contender mine_;
  const installation& where_;
  const device_choice& device_;
  const std::uint64_t seed_;
  const activity& now_;
  const std::function<void()>& before_gpu_;
  time_budget& budget_;
  grade_report report_;
  bool right_ = false;
  std::map<lab_size, profiled_call> calls_;
  std::map<std::string, comparison> measured_;  // by the step
  std::optional<modelled_figures> my_sample_, my_whole_;
  std::optional<call_outcome> overturned_;
  std::string library_kernel_;  // the launched library kernel, if any
  std::optional<given_times> given_;
  std::map<std::string, std::pair<double, std::string>> step_times_;
  kept_times kept_times_{where_, device_};
};

}  // namespace

grade_report grade_program(const lab& l, const problem& p, const std::string& name,
                           const std::filesystem::path& program,
                           const std::vector<std::string>& compile_errors,
                           const installation& where, const device_choice& device,
                           std::uint64_t seed, const activity& now,
                           const std::function<void()>& before_gpu, time_budget* budget) {
  time_budget own(budget_s(l));
  return grading(l, p, {name, program}, where, device, seed, now, before_gpu,
                 budget != nullptr ? *budget : own)
      .run(compile_errors);
}

}  // namespace stepwise
