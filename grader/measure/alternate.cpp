#include "grader/measure/alternate.hpp"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

constexpr std::uint32_t warmups = 1, repetitions = 3;  // of one visit to a program
constexpr std::size_t first_pairs = 20, more_pairs = 10, most_pairs = 60;
constexpr int bench_rounds = 4;  // each forwards and backwards
constexpr std::size_t duel_pairs = 21;
// Of a call: one that takes longer has fewer rounds; and where it would, it is not made.
constexpr double slow_ms = 250, too_slow_ms = 2000;

std::vector<problem_call> make_calls(const problem& p, const std::vector<lab_size>& sizes,
                                     std::uint64_t seed, const activity& now) {
  std::vector<problem_call> calls;
  for (const auto& size : sizes) {
    now.doing("making inputs of size " + size_text(size));
    try {
      calls.push_back(p.make_call(size, seed));
    } catch (const std::invalid_argument& error) {
      throw failure(exit_code::usage, error.what());
    }
  }
  return calls;
}

// Every program's calls at several sizes: with a cold L2, then with a warm one. A program that may
// keep its buffers on the device has them copied there and back by the first call and by the last
// one only; for gigabytes that takes longer than all the calls.
class bench_plans {
 public:
  bench_plans(std::size_t sizes, bool keeps) : keeps_(keeps) {
    using runner::buffers_are;
    for (std::size_t s = 0; s < sizes; ++s)
      for (const bool cold : {true, false})
        for (const auto buffers :
             {keeps ? buffers_are::left : buffers_are::fresh, buffers_are::reused})
          plans_.push_back({s, warmups, repetitions, cold, buffers});
  }
  const std::vector<planned_call>& all() const { return plans_; }
  std::size_t count() const {
    return plans_.size() / 2;
  }  // a cold one and a warm one for each size
  std::size_t size(std::size_t n) const { return n / 2; }
  bool is_cold(std::size_t n) const { return n % 2 == 0; }
  // The plan of a visit for n; is_checked: its outputs are to come back.
  std::size_t plan(std::size_t n, bool is_checked) const {
    return 2 * n + (keeps_ && !is_checked ? 1 : 0);
  }

 private:
  bool keeps_;
  std::vector<planned_call> plans_;
};

// Whether all programs' buffers fit on the device together, with some room to spare.
bool fit(const std::vector<problem_call>& calls, std::size_t programs,
         const device_choice& device) {
  double most = 0;
  for (const auto& call : calls) {
    double bytes = 0;
    for (const auto& buffer : call.buffers) bytes += static_cast<double>(buffer.bytes);
    most = std::max(most, bytes);
  }
  return device.gpu && most * static_cast<double>(programs) <=
                           0.8 * static_cast<double>(device.state.memory_bytes);
}

// A program that stays alive between visits. Outputs that come back are compared: with the first
// ones, byte by byte, and those with the reference.
class visited {
 public:
  visited(const lab& l, const problem& p, const contender& who, const device_choice& device,
          const call_file& file, const activity& now)
      : who_(who),
        problem_(p),
        file_(file),
        session_(who.program, device, file, options(l, device, file, now)) {}

  // The median of the visit's calls in ms; found says if there is none.
  double visit(std::size_t plan, call_outcome& found) {
    found = session_.call(plan);
    if (!found.ok()) return 0;
    if (!who_.is_right || file_.plan(plan).buffers == runner::buffers_are::reused)
      return time_of(plan, found);
    auto outputs = file_.outputs(plan);
    if (!(right_.size() > plan && right_[plan] == outputs)) {
      if (const auto wrong = check_outputs(problem_, file_.call(plan), outputs)) {
        found = {verdict::wrong, *wrong};
        return 0;
      }
      if (right_.size() <= plan) right_.resize(plan + 1);
      right_[plan] = std::move(outputs);
    }
    return time_of(plan, found);
  }

 private:
  double time_of(std::size_t plan, call_outcome& found) const {
    const auto times = file_.times(plan);
    if (times.empty()) found = {verdict::protocol, "the program reported no time for its calls"};
    return median(times);
  }
  static session_options options(const lab& l, const device_choice& device, const call_file& file,
                                 const activity& now) {
    auto result = options_for(device, 6 * l.time_limit_s, file.bytes());
    result.tick = now.tick;
    return result;
  }

  const contender& who_;
  const problem& problem_;
  const call_file& file_;
  session session_;
  std::vector<std::vector<std::vector<std::byte>>> right_;  // by plan
};

// What a call takes, if it takes as long per operation as at another size.
double expected_ms(double time_ms, const problem_work& there, const problem_work& here) {
  return time_ms *
         (there.operations > 0 ? here.operations / there.operations : here.bytes / there.bytes);
}

sample_summary summarise(const std::vector<double>& times) {
  return {times.size(), median(times), median_interval(times)};
}

}  // namespace

decision decide(const interval& range, double at_least) {
  if (range.low >= at_least) return decision::above;
  return range.high < at_least ? decision::below : decision::open;
}

comparison compare(const lab& l, const problem& p, const contender& mine, const contender& other,
                   const device_choice& device, const lab_size& size, std::uint64_t seed,
                   double at_least, const activity& now) {
  comparison result;
  const auto calls = make_calls(p, {size}, seed, now);
  result.label = calls[0].label;
  result.work = p.work(size);
  const planned_call plan{.warmups = warmups, .repetitions = repetitions, .cold_l2 = true};
  // A file each: neither program sees the other's outputs.
  const call_file my_file(calls, {plan}), other_file(calls, {plan});
  visited me(l, p, mine, device, my_file, now), them(l, p, other, device, other_file, now);
  std::vector<double> my_times, other_times;
  const auto pair = [&](bool me_first) {
    double times[2] = {0, 0};  // mine, other
    for (const bool is_me : {me_first, !me_first}) {
      times[is_me ? 0 : 1] = (is_me ? me : them).visit(0, result.found);
      if (!result.found.ok()) {
        result.whose = is_me ? mine.name : other.name;
        return false;
      }
    }
    my_times.push_back(times[0]);
    other_times.push_back(times[1]);
    result.ratios.push_back(times[1] / times[0]);
    return true;
  };
  for (std::size_t wanted = first_pairs; wanted <= most_pairs; wanted += more_pairs) {
    while (result.ratios.size() < wanted) {
      now.doing(fmt::format("timing against {} at {}: pair {}", other.name, result.label,
                            result.ratios.size() + 1));
      if (!pair(result.ratios.size() % 2 == 0)) return result;
    }
    result.range = median_interval(result.ratios);
    if (decide(result.range, at_least) != decision::open) break;
  }
  result.ratio = median(result.ratios);
  result.mine_ms = median(my_times);
  result.other_ms = median(other_times);
  return result;
}

std::vector<bench_row> bench(const lab& l, const problem& p, const std::vector<contender>& all,
                             const device_choice& device, const std::vector<lab_size>& sizes,
                             std::uint64_t seed, const activity& now) {
  const auto calls = make_calls(p, sizes, seed, now);
  const bench_plans plans(sizes.size(), fit(calls, all.size(), device));
  // One file for all: they are called one at a time and read at once. These are our own programs.
  const call_file file(calls, plans.all());
  std::vector<bench_row> rows;
  std::vector<std::unique_ptr<visited>> programs;
  for (const auto& who : all) {
    rows.push_back({who.name, {}, {}});
    programs.push_back(std::make_unique<visited>(l, p, who, device, file, now));
  }
  std::vector<std::vector<std::vector<double>>> times(
      all.size(), std::vector<std::vector<double>>(plans.count()));
  constexpr int rounds = 2 * bench_rounds;
  for (std::size_t n = 0; n < plans.count(); ++n) {
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t k = 0; k < all.size(); ++k) {
        const std::size_t who = round % 2 == 0 ? k : all.size() - 1 - k;
        if (!rows[who].found.ok()) continue;
        auto& mine = times[who][n];
        const std::size_t size = plans.size(n);
        if (!mine.empty() && mine[0] > slow_ms && round > 1) continue;
        if (size > 0) {  // the smaller size, with the same cache
          const auto& before = times[who][n - 2];
          if (before.empty() || expected_ms(median(before), p.work(sizes[size - 1]),
                                            p.work(sizes[size])) > too_slow_ms)
            continue;
        }
        now.doing(fmt::format("{} {}, round {} of {}: {}", calls[size].label,
                              plans.is_cold(n) ? "cold" : "warm", round + 1, rounds,
                              all[who].name));
        const bool is_checked = round == 0 || round == rounds - 1;
        const double time_ms = programs[who]->visit(plans.plan(n, is_checked), rows[who].found);
        if (rows[who].found.ok()) mine.push_back(time_ms);
      }
    }
  }
  for (std::size_t who = 0; who < all.size(); ++who) {
    if (!rows[who].found.ok()) continue;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      if (times[who][2 * s].empty() || times[who][2 * s + 1].empty()) continue;
      rows[who].cells.push_back({sizes[s], calls[s].label, p.work(sizes[s]),
                                 summarise(times[who][2 * s]), summarise(times[who][2 * s + 1])});
    }
  }
  return rows;
}

std::vector<duel> fight(const lab& l, const problem& p, const contender& mine,
                        const contender& other, const device_choice& device,
                        const std::vector<lab_size>& sizes, std::uint64_t seed,
                        const activity& now) {
  const auto calls = make_calls(p, sizes, seed, now);
  const bench_plans plans(sizes.size(), fit(calls, 2, device));
  const call_file file(calls, plans.all());
  visited me(l, p, mine, device, file, now), them(l, p, other, device, file, now);
  std::vector<duel> duels;
  for (std::size_t n = 0; n < plans.count(); ++n) {
    const std::size_t size = plans.size(n);
    std::vector<double> ratios;
    while (ratios.size() < duel_pairs) {
      now.doing(fmt::format("{} against {}, {} {}: pair {}", mine.name, other.name,
                            calls[size].label, plans.is_cold(n) ? "cold" : "warm",
                            ratios.size() + 1));
      double times[2] = {0, 0};
      const bool me_first = ratios.size() % 2 == 0;
      const bool is_checked = ratios.empty() || ratios.size() == duel_pairs - 1;
      for (const bool is_me : {me_first, !me_first}) {
        call_outcome found;
        times[is_me ? 0 : 1] = (is_me ? me : them).visit(plans.plan(n, is_checked), found);
        if (!found.ok()) {
          throw failure(exit_code::ours, (is_me ? mine : other).name + ": " + found.message);
        }
      }
      ratios.push_back(times[1] / times[0]);
    }
    if (plans.is_cold(n)) duels.push_back({sizes[size], calls[size].label, {}, {}, {}});
    auto& side = plans.is_cold(n) ? duels.back().cold : duels.back().warm;
    side.ratio = median(ratios);
    side.range = median_interval(ratios);
    duels.back().pairs = ratios.size();
  }
  return duels;
}

}  // namespace stepwise
