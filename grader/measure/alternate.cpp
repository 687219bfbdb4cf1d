// Keeps programs alive between visits, which come in rounds and in pairs.
#include "grader/measure/alternate.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

constexpr std::uint32_t warmups = 1, repetitions = 3;  // per visit to a program
// A visit makes one warm-up and one timed call if a call takes longer than this. Interrupts and
// late starts, the reason for repeating calls, are small compared with such a call.
constexpr double long_ms = 10;
constexpr int bench_rounds = 8;  // alternately forwards and backwards
constexpr std::size_t duel_pairs = 21;
// A time of a few microseconds is only a few ticks of the GPU's clock, and a late start changes it.
// The ratio needs more pairs to settle, but pairs of such short calls cost little.
constexpr double short_ms = 0.02;
constexpr std::size_t short_duel_pairs = 101;
// Time limit for a program's calls at one size and cache state, after which the program gets no
// more rounds. This is enough for all rounds of 25 ms calls, and half a minute per size for twenty
// programs.
constexpr double rounds_budget_ms = 600;
// Energy counters are updated every 20 to 100 ms, so they miss at most a tenth of a second at both
// ends. Before that, clocks and power reach their values for back-to-back calls.
constexpr std::uint32_t energy_ms = 1000, before_energy_ms = 200;
// No call is made if it would take longer than this. The limit is higher on a CPU, which has few
// programs, and where the prediction is too high for a program that does fewer operations than are
// counted (nearest neighbours).
constexpr double too_slow_ms = 2000, too_slow_on_cpu_ms = 10000;

std::vector<problem_call> make_calls(const problem& p, const std::vector<lab_size>& sizes,
                                     std::uint64_t seed, const activity& now) {
  std::vector<problem_call> calls;
  for (const auto& size : sizes) {
    now.doing("making inputs of size " + size_text(size));
    calls.push_back(call_of_size(p, size, seed));
  }
  return calls;
}

double free_memory_bytes() {
  return static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Whether all programs' buffers fit on the device together, and the CPU programs' buffers in the
// host's memory, with some room to spare.
bool all_fit(const std::vector<problem_call>& calls, const std::vector<contender>& steps,
             const std::vector<contender>& baselines, const device_choice& device) {
  const auto on_cpu = static_cast<std::size_t>(std::count_if(
      baselines.begin(), baselines.end(), [](const contender& who) { return who.on_cpu; }));
  const std::size_t on_gpu = steps.size() + baselines.size() - on_cpu;
  double most = 0;
  for (const auto& call : calls) {
    double bytes = 0;
    for (const auto& buffer : call.buffers) bytes += static_cast<double>(buffer.bytes);
    most = std::max(most, bytes);
  }
  if (on_cpu > 0 && most * static_cast<double>(on_cpu) > 0.5 * free_memory_bytes()) return false;
  return on_gpu == 0 || (device.gpu && most * static_cast<double>(on_gpu) <=
                                           0.8 * static_cast<double>(device.state.memory_bytes));
}

// A program that stays alive between visits.
class visited {
 public:
  visited(const lab& l, const contender& who, const device_choice& device, const call_file& file,
          const activity& now)
      : file_(file),
        session_(start_session(who.program, device, file, options(l, who, device, file, now))) {}

  // The times of the visit's calls in ms. If there are none, `found` has the reason.
  std::vector<double> visit(std::size_t plan, call_outcome& found) {
    found = session_->call(plan);
    if (!found.ok()) return {};
    auto times = file_.times(plan);
    if (times.empty())
      found = {verdict::protocol, "the program did not report the times of its calls"};
    return times;
  }

 private:
  static session_options options(const lab& l, const contender& who, const device_choice& device,
                                 const call_file& file, const activity& now) {
    auto result = options_for(device, 6 * l.time_limit_s, file.bytes());
    if (who.on_cpu) result.data_limit_bytes = 0;  // the limit is the emulator's
    result.tick = now.tick;
    result.host_bytes = l.host_bytes;
    return result;
  }

  const call_file& file_;
  std::unique_ptr<call_session> session_;
};

// A call's time if the time per operation is the same as at another size.
double expected_ms(double time_ms, const problem_work& there, const problem_work& here) {
  return time_ms *
         (there.operations > 0 ? here.operations / there.operations : here.bytes / there.bytes);
}

sample_summary summarise(const std::vector<double>& times) {
  return {times.size(), median(times), median_interval(times)};
}

enum class cache { cold, warm };

// The plans for each size in `lab dev bench`. If all programs' buffers fit on the device, they stay
// there until the next size: the first visit of a size copies them in, and the last visit, the
// check, copies them out. For gigabytes, copying takes longer than all the calls.
class bench_plans {
 public:
  bench_plans(std::size_t sizes, bool stay) {
    using runner::buffers_are;
    const auto buffers = stay ? buffers_are::reused : buffers_are::fresh;
    for (std::size_t s = 0; s < sizes; ++s) {
      for (const bool is_cold : {true, false}) {
        plans_.push_back({s, {warmups, repetitions, is_cold, buffers}});
        plans_.push_back({s, {1, 1, is_cold, buffers}});
      }
      for (const std::uint32_t busy_ms : {before_energy_ms, energy_ms})
        plans_.push_back({s, {0, 1, 0, buffers_are::reused, busy_ms}});
      plans_.push_back({s, {0, 1, 0, stay ? buffers_are::left : buffers_are::fresh}});
    }
  }
  const std::vector<planned_call>& all() const { return plans_; }
  std::size_t visit(std::size_t size, cache state, double call_ms) const {
    return per_size * size + (state == cache::cold ? 0 : 2) + (call_ms > long_ms ? 1 : 0);
  }
  // Their buffers stay for the check, which must come next.
  std::size_t before_energy(std::size_t size) const { return per_size * size + 4; }
  std::size_t energy(std::size_t size) const { return per_size * size + 5; }
  std::size_t check(std::size_t size) const { return per_size * size + per_size - 1; }

 private:
  static constexpr std::size_t per_size = 7;
  std::vector<planned_call> plans_;
};

// The index of the last step that may help. steps.size() if there is none.
std::size_t last_step_of(const lab& l, const std::vector<contender>& steps) {
  for (std::size_t i = steps.size(); i-- > 0;)
    if (l.may_help(steps[i].name)) return i;
  return steps.size();
}

// All programs of `lab dev bench`: the steps, then the baselines.
class alternation {
 public:
  alternation(const lab& l, const problem& p, const std::vector<contender>& steps,
              const std::vector<contender>& baselines, const device_choice& device,
              const bench_plans& plans, const call_file& file, const activity& now,
              const bench_choices& choices)
      : problem_(p),
        last_step_(last_step_of(l, steps)),
        plans_(plans),
        file_(file),
        now_(now),
        choices_(choices) {
    for (const auto* const group : {&steps, &baselines})
      for (const auto& who : *group)
        all_.emplace_back(l, who, group == &baselines, device, file, now);
    for (std::size_t i = 0; i < baselines.size(); ++i) {
      if (baselines[i].on_cpu || last_step_ == steps.size()) continue;
      rivals_.push_back(steps.size() + i);
      fought_.push_back({baselines[i].name, {}});
    }
  }

  void measure(const std::vector<lab_size>& sizes, std::size_t s) {
    size_ = s;
    label_ = file_.call(plans_.check(s)).label;
    const auto work = problem_.work(sizes[s]);
    for (auto& one : all_) {
      const double expected = one.at ? expected_ms(one.call_ms, *one.at, work) : 0;
      const double most_ms = one.who.on_cpu ? too_slow_on_cpu_ms : too_slow_ms;
      one.takes_part = one.row.found.ok() && expected <= most_ms;
      if (!one.takes_part) continue;
      one.call_ms = expected;
      one.at = work;
    }
    for (std::size_t i = 0; i < fought_.size(); ++i)
      if (fights(i)) fought_[i].second.push_back({sizes[s], label_, {}, {}, 0});
    for (const cache state : states()) {
      rounds(state, false);
      for (std::size_t i = 0; i < fought_.size(); ++i)
        if (fights(i)) pairs(state, i);
    }
    for (const cache state : states()) rounds(state, true);
    for (auto& one : all_) {
      std::optional<energy_use> used;
      if (one.takes_part && !one.who.on_cpu && choices_.energy && s + 1 == sizes.size())
        used = energy(one);
      if (one.takes_part) check(one);
      if (one.takes_part)
        one.row.cells.push_back(
            {sizes[s], label_, work, summarise(one.cold), summarise(one.warm), used});
    }
  }

  bench_report report() {
    bench_report result;
    for (auto& one : all_) {
      if (!one.row.found.ok()) one.row.cells.clear();
      result.rows.push_back(std::move(one.row));
    }
    if (!fought_.empty() && result.rows[last_step_].found.ok()) result.fought = std::move(fought_);
    std::erase_if(result.fought, [](const auto& with) { return with.second.empty(); });
    return result;
  }

 private:
  std::vector<cache> states() const {
    return choices_.warm ? std::vector{cache::cold, cache::warm} : std::vector{cache::cold};
  }

  struct competitor {
    competitor(const lab& l, const contender& c, bool of_baselines, const device_choice& device,
               const call_file& file, const activity& now)
        : who(c),
          is_baseline(of_baselines),
          program(l, c, device, file, now),
          row{c.name, {}, {}} {}
    contender who;
    bool is_baseline;
    visited program;
    bench_row row;
    bool takes_part = true;          // it has not failed and is not too slow at this size
    double call_ms = 0;              // per call in the last visit, or the prediction
    std::optional<problem_work> at;  // the work of such a call; empty before the first
    std::vector<double> cold, warm;  // from the rounds at this size
  };

  static const char* name(cache state) { return state == cache::cold ? "cold" : "warm"; }

  bool fights(std::size_t rival) const {
    return all_[last_step_].takes_part && all_[rivals_[rival]].takes_part;
  }

  // Runs the rounds of the programs on the GPU, or of the programs on the CPU.
  void rounds(cache state, bool on_cpu) {
    std::vector<double> spent_ms(all_.size(), 0);
    std::vector<bool> continues(all_.size(), true);
    for (int round = 0; round < bench_rounds; ++round) {
      for (std::size_t k = 0; k < all_.size(); ++k) {
        const std::size_t i = round % 2 == 0 ? k : all_.size() - 1 - k;
        auto& one = all_[i];
        if (one.who.on_cpu != on_cpu) continue;
        // Stops only after whole pairs of rounds, so that a drift affects all programs alike.
        if (round % 2 == 0 && spent_ms[i] >= rounds_budget_ms) continues[i] = false;
        if (!one.takes_part || !continues[i]) continue;
        now_.doing(fmt::format("{} {}, round {} of {}: {}", label_, name(state), round + 1,
                               bench_rounds, one.who.name));
        auto& samples = state == cache::cold ? one.cold : one.warm;
        if (round == 0) samples.clear();
        const auto times = visit(one, plans_.visit(size_, state, one.call_ms));
        if (!one.takes_part) continue;
        samples.push_back(one.call_ms = median(times));
        spent_ms[i] = std::accumulate(times.begin(), times.end(), spent_ms[i]);
      }
    }
  }

  void pairs(cache state, std::size_t rival) {
    auto &mine = all_[last_step_], &other = all_[rivals_[rival]];
    auto& at = fought_[rival].second.back();
    if (at.pairs == 0) at.pairs = mine.call_ms < short_ms ? short_duel_pairs : duel_pairs;
    std::vector<double> ratios;
    for (std::size_t pair = 0; pair < at.pairs; ++pair) {
      now_.doing(fmt::format("{} {}, {} against {}: pair {} of {}", label_, name(state),
                             mine.who.name, other.who.name, pair + 1, at.pairs));
      const bool i_am_first = pair % 2 == 0;
      for (auto* const one : {i_am_first ? &mine : &other, i_am_first ? &other : &mine}) {
        one->call_ms = median(visit(*one, plans_.visit(size_, state, one->call_ms)));
        if (!one->takes_part) return;
      }
      ratios.push_back(other.call_ms / mine.call_ms);
    }
    auto& side = state == cache::cold ? at.cold : at.warm;
    side.ratio = median(ratios);
    side.range = median_interval(ratios);
  }

  // Empty if the GPU does not report energy or the program fails.
  std::optional<energy_use> energy(competitor& one) {
    now_.doing(fmt::format("{}, energy of {}", label_, one.who.name));
    visit(one, plans_.before_energy(size_));
    if (!one.takes_part) return std::nullopt;
    const auto before = choices_.energy();
    visit(one, plans_.energy(size_));
    const auto after = choices_.energy();
    const auto record = file_.record(plans_.energy(size_));
    if (!one.takes_part || !before || !after || *after <= *before || record.busy_calls == 0 ||
        !(record.busy_took_ms > 0))
      return std::nullopt;
    const double joules = static_cast<double>(*after - *before) / 1e3;
    return energy_use{joules / record.busy_calls, joules / (record.busy_took_ms / 1e3),
                      record.busy_calls};
  }

  // Checks outputs in place. The course's programs are trusted, and this program is idle now.
  void check(competitor& one) {
    now_.doing(fmt::format("{}, checking {}", label_, one.who.name));
    const std::size_t plan = plans_.check(size_);
    visit(one, plan);
    if (!one.takes_part || !one.who.is_right) return;
    if (const auto wrong = problem_.check(file_.call(plan), file_.outputs_in_place(plan)))
      fail(one, {verdict::wrong, *wrong});
  }

  // The times of the visit's calls in ms. Empty if the visit failed.
  std::vector<double> visit(competitor& one, std::size_t plan) {
    call_outcome found;
    auto times = one.program.visit(plan, found);
    if (!found.ok()) fail(one, found);
    return times;
  }

  void fail(competitor& one, const call_outcome& found) {
    one.takes_part = false;
    one.row.found = found;
    if (one.is_baseline) throw failure(exit_code::ours, one.who.name + ": " + found.message);
  }

  const problem& problem_;
  std::size_t last_step_;  // in all_: what meets the baselines
  const bench_plans& plans_;
  const call_file& file_;
  const activity& now_;
  const bench_choices& choices_;
  std::deque<competitor> all_;
  std::vector<std::size_t> rivals_;  // in all_: the baselines on the GPU
  duels fought_;                     // against each rival
  std::size_t size_ = 0;             // the measured size
  std::string label_;                // the size's label
};

}  // namespace

bench_report bench(const lab& l, const problem& p, const std::vector<contender>& steps,
                   const std::vector<contender>& baselines, const device_choice& device,
                   const std::vector<lab_size>& sizes, std::uint64_t seed, const activity& now,
                   const bench_choices& choices) {
  const auto calls = make_calls(p, sizes, seed, now);
  now.doing("writing the inputs of all sizes");
  const bench_plans plans(sizes.size(), all_fit(calls, steps, baselines, device));
  // One file serves all programs, which are called one at a time. They are the course's own.
  const call_file file(calls, plans.all());
  file.write_inputs();
  alternation contest(l, p, steps, baselines, device, plans, file, now, choices);
  for (std::size_t s = 0; s < sizes.size(); ++s) contest.measure(sizes, s);
  return contest.report();
}

}  // namespace stepwise
