// Runs everything that one answer needs, on all cores, and judges the goals by the results.
#include "grader/cli/watch/attempt.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "common/report/located_finding.hpp"
#include "grader/course/given.hpp"
#include "grader/grade/grade.hpp"
#include "grader/measure/figures.hpp"
#include "grader/model/recorded_times.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/text.hpp"
#include "grader/system/parallel.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise::cli {
namespace {

// After any other verdict, another call would only waste the same amount of time again.
bool worth_another_call(verdict what) {
  return what == verdict::pass || what == verdict::wrong || what == verdict::check;
}

// A program that serves only one answer must not evict the user's own programs from the cache.
struct passing_program {
  fs::path entry;  // the program's cache entry, to be removed; empty: it is kept
  ~passing_program() {
    std::error_code ignored;
    if (!entry.empty()) fs::remove_all(entry, ignored);
  }
};

// Adds the calls of `more`, which ran at the same time as those of `all`.
void add(check_report& all, check_report more) {
  all.total += more.total;
  all.printed += more.printed;
  for (auto& found : more.findings) merge_into(all.findings, std::move(found));
  order_by_cause(all.findings);
  if (!all.correct()) return;
  all.right.insert(all.right.end(), more.right.begin(), more.right.end());
  if (more.correct()) return;
  all.found = more.found;
  all.label = more.label;
  all.size = more.size;
}

// The counters that a person compares from save to save, scaled to whole launches.
std::vector<named_figure> counters_of(const std::vector<kernel_profile>& call) {
  double instructions = 0, launches = 0, lanes = 0, slots = 0;
  level_traffic moved;
  profile_counts total;
  const kernel_profile* longest = nullptr;
  for (const kernel_profile& k : call) {
    instructions += k.timing.instructions;
    launches += static_cast<double>(k.launches);
    if (k.timing.traffic) moved += *k.timing.traffic;
    total += k.total;
    const auto all = k.total.all_instructions();
    lanes += static_cast<double>(all.lanes);
    slots += static_cast<double>(all.warps);
    if (longest == nullptr || k.timing.us > longest->timing.us) longest = &k;
  }
  if (longest == nullptr) return {};
  std::vector<named_figure> figures = {
      {"launches", launches},
      {"warp instructions", instructions},
      {"active lanes of 32", slots > 0 ? lanes / slots : 0},
      {"global sectors at L1", moved.l1_sectors},
      {"sectors at L2", moved.l2_sectors},
      {"DRAM bytes", moved.dram_read_bytes + moved.dram_write_bytes},
      {"shared wavefronts", moved.shared_wavefronts},
      {"registers per thread", static_cast<double>(longest->registers)},
      {"resident warps", static_cast<double>(longest->resident_warps)},
      {"shared bytes per block",
       static_cast<double>(longest->static_shared_bytes + longest->dynamic_shared_bytes)}};
  const auto ratio = [&](const char* name, std::uint64_t above, std::uint64_t below) {
    if (below > 0)
      figures.push_back({name, static_cast<double>(above) / static_cast<double>(below)});
  };
  ratio("global load: sectors", total.global_load.sectors, total.global_load.requests);
  ratio("global store: sectors", total.global_store.sectors, total.global_store.requests);
  ratio("shared load: wavefronts", total.shared_load.wavefronts, total.shared_load.requests);
  ratio("shared store: wavefronts", total.shared_store.wavefronts, total.shared_store.requests);
  return figures;
}

}  // namespace

double attempt::time_ms() const {
  if (!right()) return 0;
  if (measured) return measured->timed() ? measured->time_ms : 0;
  return time.timed() ? time.time_ms : 0;
}

attempts::attempts(context& c, const lab& l, const problem& p, const gpu& emulated_gpu,
                   attempt_request request)
    : c_(c),
      l_(l),
      p_(p),
      request_(std::move(request)),
      parts_(c.where.root / "solutions" / l.name / "parts"),
      timed_size_(modelled_size(l, emulated_gpu)),
      device_(c.device()),
      emulator_(choose_device(device_request::emulated, c.where)) {
  emulator_.name = emulated_gpu.name;
  if (is_trusted()) return;
  emulator_ = judged_on(emulator_, c.where);
  emulator_.guards = request_.guards;
  emulator_.shown = {request_.file, c.where.root / "common" / "lab",
                     c.where.root / "labs" / l.name / l.contract, parts_};
}

activity attempts::while_current() {
  return {[this](const std::string& what) { c_.busy.doing(what); },
          [this] {
            c_.busy.tick();
            if (request_.stops()) throw superseded{};
          }};
}

attempt attempts::make() {
  const auto start = std::chrono::steady_clock::now();
  attempt a;
  a.made = compile();
  const passing_program passing{request_.passes ? a.made.program.parent_path() : fs::path{}};
  a.compile_s = seconds_since(start);
  const auto compiled = std::chrono::steady_clock::now();
  if (a.compiles()) run_all(a);
  if (is_trusted()) judge(a);
  a.run_s = seconds_since(compiled);
  return a;
}

compiled attempts::compile() {
  const auto now = while_current();
  compile_guards guards{request_.guards};
  if (!is_trusted() || request_.file == c_.where.root / l_.file) guards.extra = {parts_};
  return compile_submission(l_, request_.file, c_.where, {now.doing, now.tick}, guards);
}

void attempts::run_all(attempt& a) {
  const auto start = std::chrono::steady_clock::now();
  const fs::path& program = a.made.program;
  auto small = small_sizes(l_, p_);
  std::vector<lab_size> rest, largest;
  for (const auto& size : l_.check)
    if (is_trusted() && std::find(small.begin(), small.end(), size) == small.end())
      rest.push_back(size);
  if (small.size() > 1) {
    largest.push_back(small.back());
    small.pop_back();
  }
  for (const goal& g : l_.goals)
    if (is_trusted() && g.what == goal::kind::counter) a.counted.try_emplace(g.size);
  std::atomic<bool> over = false, pointless = false;
  const activity first = {[](const std::string&) {},
                          [&over] {
                            if (over) throw superseded{};
                          }};
  const activity other = {first.doing, [&over, &pointless] {
                            if (over || pointless) throw superseded{};
                          }};
  check_report at_largest, at_rest;
  modelled_figures timed;
  std::atomic<std::size_t> done = 0;  // jobs
  std::atomic<bool> is_timed = false;
  std::vector<std::function<void()>> jobs;
  jobs.push_back([&] {
    a.report = check_thoroughly(l_, p_, program, emulator_, small, request_.seed, first);
    if (!worth_another_call(a.report.found.what)) pointless = true;
  });
  jobs.push_back([&] {
    timed = model_program(l_, p_, program, timed_size_, seed_of_modelled_calls, emulator_, other,
                          request_.patience_s);
    timed.drop_doubtful_time();
    is_timed = true;
  });
  if (!largest.empty())
    jobs.push_back([&] {
      at_largest = check_thoroughly(l_, p_, program, emulator_, largest, request_.seed, other);
    });
  if (!rest.empty())
    jobs.push_back(
        [&] { at_rest = check_program(l_, p_, program, emulator_, rest, request_.seed, other); });
  for (auto& counted : a.counted)
    jobs.push_back([&, at = &counted] {
      at->second = profile_program(l_, p_, program, at->first, request_.seed, emulator_, other);
    });
  c_.busy.doing("checking and timing " + c_.where.shown(request_.file));
  in_parallel(
      jobs.size(), workers_for(std::uint64_t{512} << 20),
      [&](std::size_t i) {
        if (pointless) return;
        try {
          jobs[i]();
          ++done;
        } catch (const superseded&) {
          if (!pointless) throw;
        }
      },
      [&](std::size_t) {
        c_.busy.tick();
        if (request_.stops()) over = true;
        if (a.is_untimed || is_timed || done + 1 < jobs.size() || !request_.untimed) return;
        a.is_untimed = true;  // reported once
        attempt all_but = a;
        add(all_but.report, at_largest);
        add(all_but.report, at_rest);
        judge(all_but);
        all_but.run_s = seconds_since(start);
        request_.untimed(std::move(all_but));
      });
  if (over) throw superseded{};
  a.is_untimed = false;
  if (pointless) return;
  a.time = std::move(timed);
  add(a.report, std::move(at_largest));
  add(a.report, std::move(at_rest));
  // A program that is right at all check sizes may still fail at the timed size: an index may
  // overflow there.
  const call_outcome& timed_end = a.time.found;
  if (a.report.correct() && !timed_end.is_open() &&
      (timed_end.what == verdict::check || timed_end.what == verdict::crash)) {
    a.report.found = timed_end;
    a.report.label = a.time.label;
  }
  if (a.report.found.ok() && a.time.timed()) a.counters = counters_of(a.time.kernels);
  if (is_trusted() && device_.gpu && a.report.correct())
    a.measured = measure_program(l_, p_, program, device_, figure_size(l_, device_, {}),
                                 request_.seed, while_current());
}

void attempts::judge(attempt& a) {
  a.goals.clear();
  for (const goal& g : l_.goals) a.goals.push_back(judge_goal(a, g));
  for (judged_goal& g : a.goals) {
    if (!g.met.value_or(false) || g.what->needs.empty()) continue;
    const auto needed = std::find_if(a.goals.begin(), a.goals.end(), [&](const judged_goal& other) {
      return other.what->name == g.what->needs;
    });
    g.met = needed->met;
  }
}

judged_goal attempts::judge_goal(const attempt& a, const goal& g) {
  judged_goal judged{&g, false, {}};
  if (g.what == goal::kind::correct) {
    judged.met = a.right();
  } else if (!a.right()) {
    judged.met = false;
  } else if (g.what == goal::kind::checks) {
    judged.met = a.report.findings.empty();
  } else if (has_errors(a.report.findings)) {
    judged.met = false;
  } else if (g.what == goal::kind::counter) {
    const profiled_call& call = a.counted.at(g.size);
    if (!call.found.ok()) return judged.figure = call.found.message, judged;
    const auto figure = figure_of(g, call.kernels, call.transfers, p_.work(g.size));
    judged.met = figure.value &&
                 (g.side == bound::at_most ? *figure.value <= g.limit : *figure.value >= g.limit);
    judged.figure = figure.value ? fmt::format("{}; the goal is at {} {:g}",
                                               in_words(*g.counter, *figure.value),
                                               g.side == bound::at_most ? "most" : "least", g.limit)
                                 : g.counter->absent;
  } else {
    const auto other_ms = step_ms(g.over);
    if (!other_ms || !a.time.timed() || g.modelled == 0 || a.measured) {
      judged.met.reset();
      return judged;
    }
    const double ratio = *other_ms / a.time.time_ms;
    judged.met = ratio >= g.modelled;
    judged.figure =
        fmt::format("{} {}; the goal is {}", ratio_text(ratio),
                    g.what == goal::kind::reach ? "the speed of " + g.over : "over " + g.over,
                    ratio_text(g.modelled));
  }
  return judged;
}

std::optional<double> attempts::step_ms(const std::string& name) {
  if (const auto known = steps_.find(name); known != steps_.end()) return known->second;
  auto found = l_.is_worked
                   ? find_recorded_model(c_.where.root, l_, name, emulator_.name, timed_size_)
                   : load_given_times(c_.where.root, l_)
                         .find(name, emulator_.name, timed_size_, seed_of_modelled_calls);
  if (!found && l_.is_worked)
    found = kept_.find(c_.where.solution(l_.name, name), timed_size_, seed_of_modelled_calls);
  if (found) steps_[name] = found;
  return found;
}

bool attempts::model_steps() {
  bool modelled = false;
  if (!l_.is_worked) return false;
  for (const goal& g : l_.goals) {
    if (!g.is_speed() || step_ms(g.over)) continue;
    const fs::path program = c_.where.solution(l_.name, g.over);
    if (steps_.contains(g.over) || !fs::exists(program)) continue;
    const auto call = model_program(l_, p_, program, timed_size_, seed_of_modelled_calls, emulator_,
                                    while_current());
    steps_[g.over] = call.timed() ? std::optional(call.time_ms) : std::nullopt;
    if (call.timed()) kept_.keep(program, timed_size_, seed_of_modelled_calls, call.time_ms);
    modelled = true;
  }
  return modelled;
}

}  // namespace stepwise::cli
