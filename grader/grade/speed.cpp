// Keeps a session per program, makes rounds, and checks the ratios from time to time.
#include "grader/grade/speed.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

#include "grader/grade/host_time.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/judge/judged_buffers.hpp"
#include "grader/judge/key.hpp"
#include "grader/judge/session.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/phases.hpp"
#include "grader/system/signals.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise {
namespace {

// The intervals are checked after these numbers of rounds. If a goal is exactly at its limit, one
// check decides it wrongly in at most 1 of 100 cases, so six checks do so in at most 6 of 100.
constexpr std::size_t looks[] = {8, 12, 16, 24, 36, 60};
constexpr double confidence = 0.99;
// Made before every call that counts. These calls measure the request's cost and wake both
// processes.
constexpr std::size_t empty_calls = 5;

// Per visit in practice mode. A long call is made once, because interrupts matter less.
constexpr std::uint32_t practice_repetitions = 3;
constexpr double practice_long_ms = 10;

enum plan : std::size_t { visit_plan, long_visit_plan, check_plan, small_plan = 1 };

class race {
 public:
  race(const lab& l, const problem& p, const contender& mine, const std::vector<rival>& rivals,
       const device_choice& device, const lab_size& size, std::uint64_t seed, const activity& now)
      : lab_(l), problem_(p), device_(device), size_(size), seed_(seed), now_(now) {
    make_inputs();
    results_.resize(rivals.size());
    for (auto& result : results_) {
      result.label = calls_[0].label;
      result.work = p.work(size);
      for (const auto& buffer : calls_[0].buffers)
        if (buffer.role == runner::buffer_role::input)
          result.input_bytes += static_cast<double>(buffer.bytes);
    }
    all_.emplace_back().who = mine;
    for (const auto& r : rivals) {
      all_.emplace_back().who = r.who;
      all_.back().goals = r.goals;
    }
    make_files();
  }

  std::vector<comparison> run() {
    for (int attempt = 1; attempt <= 2 && start(attempt); ++attempt) {
      const bool is_open = try_once();
      for (std::size_t i = 0; i < all_.size(); ++i) check_in_practice(i);
      if (!is_open) break;
    }
    return std::move(results_);
  }

 private:
  struct racer {
    contender who;
    std::unique_ptr<call_session> session;
    std::vector<double> goals;
    bool takes_part = true;
    double ms = 0;                           // the last call's
    std::vector<double> device_ms, host_ms;  // per round

    void forget_times() { device_ms.clear(), host_ms.clear(); }
  };

  void make_inputs() {
    const phase doing("inputs made");
    now_.doing("making inputs of size " + size_text(size_));
    // The first inputs are those of the checks. The timed inputs cannot be predicted. Otherwise, an
    // author who knows the key could have computed the results in advance. A wrong result names its
    // call's seed.
    const bool is_first = calls_.empty();
    const std::uint64_t seed = is_first ? seed_ : fresh_seed();
    calls_.resize(device_.judged() ? 2 : 1);
    if (is_first && device_.judged())
      calls_[1] = problem_.make_call(small_size(), random_number() % 1'000'000);
    calls_[0] = {};  // freed first: there may be no room for both
    calls_[0] = call_of_size(problem_, size_, seed);
    has_right_ = false;
  }

  // The largest check size that can be copied quickly.
  lab_size small_size() const {
    constexpr double most_bytes = 8 << 20;
    lab_size largest = lab_.check.front();
    for (const auto& size : lab_.check) {
      const double bytes = problem_.work(size).bytes;
      if (bytes <= most_bytes && bytes > problem_.work(largest).bytes) largest = size;
    }
    return largest;
  }

  // In practice mode, the submission has its own file, so that it cannot see the outputs of the
  // steps. A judge's file is private, so one file is enough, and inputs take another path.
  void make_files() {
    using runner::buffers_are;
    const phase doing("inputs written");
    std::vector<planned_call> plans;
    if (device_.judged()) {
      // Fresh buffers, so that all programs get the same memory one after the other. When each
      // program kept its own buffers, two runs of one transposition differed by up to 2.5 %.
      plans.push_back({.how = {.cold_l2 = 1, .buffers = buffers_are::fresh}});
      plans.push_back({.data = 1, .how = {.buffers = buffers_are::left}});
    } else {
      const auto buffers = all_fit() ? buffers_are::reused : buffers_are::fresh;
      plans.push_back({.how = {1, practice_repetitions, 1, buffers}});
      plans.push_back({.how = {1, 1, 1, buffers}});
      plans.push_back({.how = {0, 1, 0, all_fit() ? buffers_are::left : buffers_are::fresh}});
    }
    my_file_ = std::make_unique<call_file>(calls_, plans);
    if (!device_.judged()) rivals_file_ = std::make_unique<call_file>(calls_, plans);
  }

  bool all_fit() const {
    double bytes = 0;
    for (const auto& buffer : calls_[0].buffers) bytes += static_cast<double>(buffer.bytes);
    return bytes * static_cast<double>(all_.size()) <=
           0.8 * static_cast<double>(device_.state.memory_bytes);
  }

  const call_file& file_of(const racer& one) const {
    return &one == &all_[0] || !rivals_file_ ? *my_file_ : *rivals_file_;
  }

  // Starts all processes before it waits for the first. Returns false if no rival is left.
  bool start(int attempt) {
    bool any = false;
    for (std::size_t i = 1; i < all_.size(); ++i) {
      if (!all_[i].takes_part) continue;
      any = true;
      results_[i - 1].attempts = attempt;
      results_[i - 1].ratios.clear();
    }
    for (auto& one : all_) {
      one.session.reset();
      one.forget_times();
    }
    for (auto& one : all_) {
      if (!any || !one.takes_part) continue;
      auto options = options_for(device_, 6 * lab_.time_limit_s, file_of(one).bytes());
      options.tick = now_.tick;
      options.host_bytes = lab_.host_bytes;
      options.tensor_cores = lab_.tensor_cores;
      one.session = start_session(one.who.program, device_, file_of(one), options);
    }
    return any;
  }

  // True if a rival is still undecided, so that a new attempt may decide it.
  bool try_once() {
    const auto begin = std::chrono::steady_clock::now();
    // The first call of a process loads code, so it does not count.
    if (!round("first calls", true)) return false;
    for (auto& one : all_) one.forget_times();
    std::size_t made = 0;
    for (const std::size_t look : looks) {
      for (; made < look; ++made) {
        if (made >= looks[0] && seconds_since(begin) > lab_.timing_s) break;
        if (!round(fmt::format("round {}", made + 1), made % 2 == 0)) return false;
      }
      if (!look_at_ratios()) return false;
      if (made < look) break;
    }
    for (std::size_t i = 1; i < all_.size(); ++i)
      if (all_[i].takes_part) results_[i - 1].is_out_of_time = made < std::end(looks)[-1];
    return true;
  }

  // Makes one call per program that takes part. Returns false if the submission failed.
  bool round(const std::string& what, bool forwards) {
    throw_if_interrupted();
    if (device_.judged() && inputs_are_used_) make_inputs();
    inputs_are_used_ = true;
    for (std::size_t k = 0; k < all_.size(); ++k) {
      const std::size_t i = forwards ? k : all_.size() - 1 - k;
      if (!all_[i].takes_part) continue;
      now_.doing(fmt::format("timing at {}, {}: {}", results_[0].label, what, all_[i].who.name));
      if (!visit(i) && i == 0) return false;
    }
    return true;
  }

  bool visit(std::size_t i) {
    racer& one = all_[i];
    const std::size_t plan =
        !device_.judged() && one.ms > practice_long_ms ? long_visit_plan : visit_plan;
    call_outcome found;
    if (device_.judged()) found = get_ready(one);
    if (found.ok()) found = one.session->call(plan);
    if (found.ok() && device_.judged()) found = compare_outputs(one);
    if (found.ok()) {
      const auto times = file_of(one).times(plan);
      if (times.empty())
        found = {verdict::protocol, "the program did not report the times of its calls"};
      one.ms = median(times);
      if (!device_.judged()) rest_after(std::accumulate(times.begin(), times.end(), 0.0));
      one.device_ms.push_back(one.ms);
      one.host_ms.push_back(one.session->host_ms());
    }
    return found.ok() || fail(i, found);
  }

  // Only practice calls need a pause: copies between judged calls already give the GPU one. Without
  // it, matmul reaches an H200's power limit, and the clock falls from 1980 to 1635 MHz for
  // whichever program is running: 09_warp_tiles took 7 to 13 % longer than in judged calls.
  static void rest_after(double busy_ms) {
    std::this_thread::sleep_for(
        std::chrono::duration<double, std::milli>(std::min(2 * busy_ms, 200.0)));
  }

  bool fail(std::size_t i, const call_outcome& found) {
    for (std::size_t r = 0; r < results_.size(); ++r) {
      if ((i != 0 && r + 1 != i) || !results_[r].found.ok()) continue;
      results_[r].found = found;
      results_[r].whose = all_[i].who.name;
    }
    all_[i].takes_part = false;
    all_[i].session.reset();
    return false;
  }

  // An output equal to a correct output of this round needs no reference.
  call_outcome compare_outputs(const racer& one) {
    if (!one.who.is_right) return {};
    const phase doing("outputs compared");
    const auto found = file_of(one).outputs_in_place(visit_plan);
    bool is_known = has_right_;
    for (std::size_t b = 0; is_known && b < found.size(); ++b)
      is_known = first_difference(found[b], right_[b]) == found[b].size();
    if (is_known) return {};
    if (const auto wrong = problem_.check(calls_[0], found)) return {verdict::wrong, *wrong};
    right_.resize(found.size());
    for (std::size_t b = 0; b < found.size(); ++b) {
      right_[b].resize(found[b].size());
      copy_by_all(right_[b].data(), found[b].data(), found[b].size());
    }
    has_right_ = true;
    return {};
  }

  // Prepares a call that counts. A small call reloads code if other processes have used the GPU in
  // the meantime. Empty calls follow, whose cost is measured only for the course's programs,
  // because a submission's process could delay its answers.
  call_outcome get_ready(racer& one) {
    if (const auto found = one.session->call(small_plan); !found.ok()) return found;
    const phase doing("empty calls");
    const auto took = one.session->empty_calls(empty_calls);
    if (&one != &all_[0]) protocol_ms_.insert(protocol_ms_.end(), took.begin(), took.end());
    return {};
  }

  // Removes decided rivals. Returns false if no rival is undecided.
  bool look_at_ratios() {
    bool any = false;
    std::vector<std::vector<double>> rivals_ms;
    for (std::size_t i = 1; i < all_.size(); ++i)
      if (all_[i].takes_part) rivals_ms.push_back(all_[i].host_ms);
    const double allowed_ms = allowed_host_ms(protocol_ms_, rivals_ms);
    const auto times = [&](const racer& one) {
      return times_that_count(one.device_ms, one.host_ms, allowed_ms);
    };
    const auto mine = times(all_[0]);
    for (std::size_t i = 1; i < all_.size(); ++i) {
      if (!all_[i].takes_part) continue;
      comparison& result = results_[i - 1];
      const auto other = times(all_[i]);
      result.ratios.clear();
      for (std::size_t r = 0; r < mine.size(); ++r) result.ratios.push_back(other[r] / mine[r]);
      result.range = median_interval(result.ratios, confidence);
      result.ratio = median(result.ratios);
      result.mine_ms = median(mine);
      result.host_ms = std::max(0.0, result.mine_ms - median(all_[0].device_ms));
      result.other_ms = median(other);
      const bool is_open = std::any_of(
          all_[i].goals.begin(), all_[i].goals.end(),
          [&](double at_least) { return decide(result.range, at_least) == decision::open; });
      any = any || is_open;
      if (!is_open) {
        check_in_practice(i);
        all_[i].takes_part = false;
        all_[i].session.reset();
      }
    }
    return any;
  }

  // Compares the program's last call, which uses the buffers of all its calls.
  void check_in_practice(std::size_t i) {
    racer& one = all_[i];
    if (device_.judged() || !one.session || !one.who.is_right) return;
    const phase doing("outputs compared");
    call_outcome found = one.session->call(check_plan);
    if (found.ok()) {
      if (const auto wrong = check_outputs(problem_, calls_[0], file_of(one).outputs(check_plan)))
        found = {verdict::wrong, *wrong};
    }
    if (!found.ok()) fail(i, found);
  }

  const lab& lab_;
  const problem& problem_;
  const device_choice& device_;
  const lab_size size_;
  const std::uint64_t seed_;
  const activity& now_;
  bool inputs_are_used_ = false;     // a round has used them
  std::vector<problem_call> calls_;  // of this round; if judged, also a small one
  std::vector<racer> all_;           // the submission, then the rivals
  std::unique_ptr<call_file> my_file_, rivals_file_;
  std::vector<std::vector<std::byte>> right_;  // outputs of this round, if has_right_
  bool has_right_ = false;
  std::vector<double> protocol_ms_;  // of all empty calls
  std::vector<comparison> results_;
};

}  // namespace

decision decide(const interval& range, double at_least) {
  if (range.low >= at_least) return decision::above;
  return range.high < at_least ? decision::below : decision::open;
}

std::vector<comparison> compare(const lab& l, const problem& p, const contender& mine,
                                const std::vector<rival>& rivals, const device_choice& device,
                                const lab_size& size, std::uint64_t seed, const activity& now) {
  if (rivals.empty()) return {};
  return race(l, p, mine, rivals, device, size, seed, now).run();
}

}  // namespace stepwise
