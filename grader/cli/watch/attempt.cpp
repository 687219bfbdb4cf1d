// Runs what one answer needs on all cores, and judges the goals by it.
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
#include "grader/report/findings.hpp"
#include "grader/report/text.hpp"
#include "grader/system/parallel.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise::cli {
namespace {

constexpr double patience_s = 20;  // a student waits for the time of a call

// The calls of both, of which `more` were made beside those of `all`.
void add(check_report& all, check_report more) {
  all.total += more.total;
  for (auto& found : more.findings) merge_into(all.findings, std::move(found));
  if (!all.correct()) return;
  all.right.insert(all.right.end(), more.right.begin(), more.right.end());
  if (more.correct()) return;
  all.found = more.found;
  all.label = more.label;
  all.size = more.size;
  all.printed = more.printed;
}

// What a person compares from save to save; of the whole launches, however much of them ran.
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
      {"lanes active, of 32", slots > 0 ? lanes / slots : 0},
      {"global sectors, asked of L1", moved.l1_sectors},
      {"sectors asked of L2", moved.l2_sectors},
      {"DRAM bytes", moved.dram_read_bytes + moved.dram_write_bytes},
      {"shared wavefronts", moved.shared_wavefronts},
      {"registers of a thread", static_cast<double>(longest->registers)},
      {"resident warps", static_cast<double>(longest->resident_warps)},
      {"shared bytes of a block",
       static_cast<double>(longest->static_shared_bytes + longest->dynamic_shared_bytes)}};
  const auto ratio = [&](const char* name, std::uint64_t above, std::uint64_t below) {
    if (below > 0)
      figures.push_back({name, static_cast<double>(above) / static_cast<double>(below)});
  };
  ratio("sectors of a global load", total.global_load.sectors, total.global_load.requests);
  ratio("sectors of a global store", total.global_store.sectors, total.global_store.requests);
  ratio("wavefronts of a shared load", total.shared_load.wavefronts, total.shared_load.requests);
  ratio("wavefronts of a shared store", total.shared_store.wavefronts, total.shared_store.requests);
  return figures;
}

}  // namespace

double attempt::time_ms() const {
  if (!right()) return 0;
  if (measured) return measured->timed() ? measured->time_ms : 0;
  return time.timed() ? time.time_ms : 0;
}

attempts::attempts(context& c, const lab& l, const problem& p, fs::path file, std::uint64_t seed,
                   std::function<bool()> stops)
    : c_(c),
      l_(l),
      p_(p),
      file_(std::move(file)),
      seed_(seed),
      stops_(std::move(stops)),
      device_(c.device()),
      emulator_(choose_device(device_request::emulated, c.where)) {}

activity attempts::while_current() {
  return {[this](const std::string& what) { c_.busy.doing(what); },
          [this] {
            c_.busy.tick();
            if (stops_()) throw superseded{};
          }};
}

attempt attempts::make() {
  const auto start = std::chrono::steady_clock::now();
  attempt a;
  const compiled made = compile();
  a.compile_errors = made.explanation;
  if (a.compiles()) run_all(a, made.program);
  judge(a);
  a.seconds = seconds_since(start);
  return a;
}

compiled attempts::compile() {
  const auto now = while_current();
  compile_guards guards;
  if (file_ == c_.where.root / l_.file)
    guards.extra = {c_.where.root / "solutions" / l_.name / "parts"};
  return compile_submission(l_, file_, c_.where, {now.doing, now.tick}, guards);
}

void attempts::run_all(attempt& a, const fs::path& program) {
  auto small = small_sizes(l_, p_);
  std::vector<lab_size> rest, largest;
  for (const auto& size : l_.check)
    if (std::find(small.begin(), small.end(), size) == small.end()) rest.push_back(size);
  if (small.size() > 1) {
    largest.push_back(small.back());
    small.pop_back();
  }
  for (const goal& g : l_.goals)
    if (g.what == goal::kind::counter) a.counted.try_emplace(g.size);
  std::atomic<bool> over = false;
  const activity quiet = {[](const std::string&) {},
                          [&over] {
                            if (over) throw superseded{};
                          }};
  check_report at_largest, at_rest;
  std::vector<std::function<void()>> jobs;
  if (!largest.empty())
    jobs.push_back(
        [&] { at_largest = check_thoroughly(l_, p_, program, emulator_, largest, seed_, quiet); });
  jobs.push_back([&] {
    a.time = model_program(l_, p_, program, l_.modelled.back(), seed_of_modelled_calls, emulator_,
                           quiet, patience_s);
  });
  jobs.push_back(
      [&] { a.report = check_thoroughly(l_, p_, program, emulator_, small, seed_, quiet); });
  if (!rest.empty())
    jobs.push_back(
        [&] { at_rest = check_program(l_, p_, program, emulator_, rest, seed_, quiet); });
  for (auto& counted : a.counted)
    jobs.push_back([&, at = &counted] {
      at->second = profile_program(l_, p_, program, at->first, seed_, emulator_, quiet);
    });
  c_.busy.doing("checking and timing " + c_.where.shown(file_));
  in_parallel(
      jobs.size(), workers_for(std::uint64_t{512} << 20), [&](std::size_t i) { jobs[i](); },
      [&](std::size_t) {
        c_.busy.tick();
        if (stops_()) over = true;
      });
  if (over) throw superseded{};
  add(a.report, std::move(at_largest));
  add(a.report, std::move(at_rest));
  if (a.report.found.ok() && a.time.timed()) a.counters = counters_of(a.time.kernels);
  if (device_.gpu && a.report.correct())
    a.measured = measure_program(l_, p_, program, device_, figure_size(l_, device_, {}), seed_,
                                 while_current());
}

void attempts::judge(attempt& a) {
  a.goals.clear();
  for (const goal& g : l_.goals) a.goals.push_back(judge_goal(a, g));
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
    const auto figure = figure_of(*g.counter, call.kernels, p_.work(g.size), g.side, g.limit);
    judged.met = figure.value &&
                 (g.side == bound::at_most ? *figure.value <= g.limit : *figure.value >= g.limit);
    judged.figure = figure.value ? fmt::format("{}, the goal is at {} {:g}",
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
        fmt::format("{} {}, the goal is {}", ratio_text(ratio),
                    g.what == goal::kind::reach ? "the speed of " + g.over : "over " + g.over,
                    ratio_text(g.modelled));
  }
  return judged;
}

std::optional<double> attempts::step_ms(const std::string& name) {
  if (const auto known = steps_.find(name); known != steps_.end()) return known->second;
  const auto& size = l_.modelled.back();
  const auto found =
      l_.is_worked ? kept_.find(c_.where.solution(l_.name, name), size, seed_of_modelled_calls)
                   : load_given_times(c_.where.root, l_)
                         .find(name, emulator_.name, size, seed_of_modelled_calls);
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
    const auto& size = l_.modelled.back();
    const auto call =
        model_program(l_, p_, program, size, seed_of_modelled_calls, emulator_, while_current());
    steps_[g.over] = call.timed() ? std::optional(call.time_ms) : std::nullopt;
    if (call.timed()) kept_.keep(program, size, seed_of_modelled_calls, call.time_ms);
    modelled = true;
  }
  return modelled;
}

}  // namespace stepwise::cli
