// The kinds of goals: figures from counters, the order of judging, and the requirements of each
// kind.
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "common/report/profile_json.hpp"
#include "grader/grade/grade.hpp"
#include "grader/judge/tests/doubling.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::tests;

namespace {

line_profile line(int number, std::uint64_t requests, std::uint64_t sectors, std::uint64_t ideal) {
  line_profile l;
  l.at = {"k.cu", number, "line " + std::to_string(number), ""};
  l.counts.global_load = {requests, 32 * requests, sectors, ideal, 0, 0, 0, 0, 0};
  l.counts.shared_load = {requests, 32 * requests, sectors, ideal};
  return l;
}

kernel_profile kernel(std::uint64_t launches, std::vector<line_profile> lines) {
  kernel_profile k;
  k.kernel = "k";
  k.launches = launches;
  k.lines = std::move(lines);
  for (const auto& l : k.lines) k.total += l.counts;
  return k;
}

const goal_counter& named(const char* name) {
  const goal_counter* found = find_goal_counter(name);
  REQUIRE(found != nullptr);
  return *found;
}

goal_figure at_most(const char* name, double limit, const std::vector<kernel_profile>& call,
                    const problem_work& work = {}) {
  return figure_of(named(name), call, {}, work, bound::at_most, limit);
}

}  // namespace

TEST_CASE("a figure is a sum over all kernels, and names the line that is furthest from the goal") {
  // Line 5 has the most sectors. Line 7 has the sectors beyond the ideal, in two configurations.
  const std::vector<kernel_profile> call = {
      kernel(1, {line(5, 1000, 4000, 4000), line(7, 50, 1600, 200)}),
      kernel(2, {line(7, 50, 1600, 200)})};
  const auto spread = at_most("global_load_sectors_per_request", 4, call);
  CHECK(*spread.value == doctest::Approx(7200.0 / 1100));
  CHECK(spread.costliest.line == 7);
  CHECK(spread.costliest.text == "line 7");
  // The goal is met.
  CHECK(at_most("global_load_sectors_per_request", 7, call).costliest.line == 0);
  const auto share =
      figure_of(named("global_load_efficiency_percent"), call, {}, {}, bound::at_least, 90);
  CHECK(*share.value == doctest::Approx(100.0 * 4400 / 7200));
  CHECK(share.costliest.line == 7);
  CHECK(*at_most("shared_wavefronts_over_ideal", 1, call).value == doctest::Approx(7200.0 / 4400));
  CHECK(*at_most("kernel_launches", 2, call).value == 3);
}

TEST_CASE("occupancy is that of the kernel with the lowest occupancy") {
  std::vector<kernel_profile> call = {kernel(1, {}), kernel(3, {})};
  for (auto& k : call) k.most_warps = k.resident_warps = 64;
  CHECK(*at_most("occupancy_percent", 100, call).value == 100);
  call[1].resident_warps = 32;
  CHECK(*at_most("occupancy_percent", 100, call).value == 50);
  call[1].most_warps = 48;
  CHECK(*at_most("occupancy_percent", 100, call).value == doctest::Approx(100.0 * 32 / 48));
  CHECK(!at_most("occupancy_percent", 100, {}).value);
  // A kernel that does almost nothing, such as clearing a counter, is omitted.
  call[0].total.instructions[0] = {1000, 32000};
  call[1].total.instructions[0] = {40, 40};
  CHECK(*at_most("occupancy_percent", 100, call).value == 100);
  call[1].total.instructions[0] = {60, 60};
  CHECK(*at_most("occupancy_percent", 100, call).value == doctest::Approx(100.0 * 32 / 48));
}

TEST_CASE("another kernel does not make up for the idle lanes of the kernel that does the work") {
  const auto lanes_of = [](const std::vector<kernel_profile>& call) {
    const auto found =
        figure_of(named("warp_execution_efficiency_percent"), call, {}, {}, bound::at_least, 90);
    return *found.value;
  };
  const auto with_lanes = [](line_profile l, std::uint64_t warps, std::uint64_t lanes) {
    l.counts.instructions[0] = {warps, warps * lanes};
    kernel_profile k = kernel(1, {l});
    k.block = {256, 1, 1};
    return k;
  };
  const kernel_profile works = with_lanes(line(5, 1000, 4000, 4000), 2000, 16);
  CHECK(lanes_of({works}) == 50);
  CHECK(lanes_of({works, with_lanes(line(9, 0, 0, 0), 2000, 32)}) == 50);
  CHECK(lanes_of({with_lanes(line(9, 0, 0, 0), 100'000, 32), works}) == 50);
  // A small helper has few of the instructions and little of the traffic, so it is omitted.
  CHECK(lanes_of({works, with_lanes(line(9, 10, 10, 10), 40, 1)}) == 50);
  CHECK(lanes_of({works, with_lanes(line(9, 10, 10, 10), 400, 1)}) == doctest::Approx(3.125));
  const auto found =
      figure_of(named("warp_execution_efficiency_percent"),
                {works, with_lanes(line(9, 0, 0, 0), 2000, 32)}, {}, {}, bound::at_least, 90);
  CHECK(found.costliest.line == 5);
}

TEST_CASE("instructions that only keep all lanes busy do not make up for idle lanes") {
  // For 8 bytes, the divergent part has 4 active and 4 idle lanes per byte.
  const auto grade = [](std::uint64_t full_warps, double most_active) {
    line_profile works = line(5, 0, 0, 0), filler = line(6, 0, 0, 0);
    works.counts.instructions[0] = {2, 32};
    filler.counts.instructions[0] = {full_warps, 32 * full_warps};
    goal g;
    g.counter = &named("warp_execution_efficiency_percent");
    g.limit = 85;
    g.most_active = most_active;
    problem_work work;
    work.bytes = 8;
    kernel_profile k = kernel(1, {works, filler});
    k.block = {256, 1, 1};
    return figure_of(g, {k}, {}, work);
  };
  CHECK(*grade(0, 0).value == 50);
  CHECK(*grade(100, 0).value > 99);
  CHECK(*grade(0, 10).value == 50);
  CHECK(grade(0, 10).too_active == 0);
  for (const std::uint64_t full_warps : {2, 100, 1'000'000}) {
    const goal_figure found = grade(full_warps, 10);
    CHECK(*found.value == doctest::Approx(100.0 * 10 / (10 + 4)));
    CHECK(found.too_active == 4 + 4.0 * full_warps);
    CHECK(found.costliest.line == 5);
  }
}

TEST_CASE("idle lanes without a thread are blamed on the block, not on a line") {
  line_profile l = line(5, 1000, 4000, 4000);
  l.counts.instructions[0] = {2000, 2000};
  kernel_profile one_thread = kernel(1, {l});
  const auto found = [&](unsigned threads) {
    one_thread.block = {threads, 1, 1};
    return figure_of(named("warp_execution_efficiency_percent"), {one_thread}, {}, {},
                     bound::at_least, 90);
  };
  CHECK(found(1).threads_of_block == 1);
  CHECK(found(1).costliest.line == 0);
  CHECK(found(48).threads_of_block == 48);
  CHECK(found(256).threads_of_block == 0);
  CHECK(found(256).costliest.line == 5);
}

TEST_CASE("a load from constant memory counts as a load") {
  line_profile weights = line(5, 0, 0, 0);
  weights.counts.constant_load = {30, 960, 30, 30};
  weights.counts.global_load = {10, 320, 160, 160};
  const std::vector<kernel_profile> call = {kernel(1, {weights})};
  CHECK(*at_most("load_requests_per_fma", 1, call, {0, 640, "flop"}).value == 4);
  CHECK(*at_most("global_load_ideal_sectors_per_request", 9, call).value == 4.75);
  CHECK(*at_most("global_load_sectors_per_request", 16, call).value == 16);
}

TEST_CASE("figures relative to what the problem needs") {
  const std::vector<kernel_profile> call = {kernel(1, {line(5, 1000, 4000, 4000)})};
  const problem_work work{64000, 128000, "flop"};
  CHECK(*at_most("global_bytes_over_minimum", 1, call, work).value == 2);
  CHECK(at_most("global_bytes_over_minimum", 1, call, work).costliest.line == 5);
  // 64000 multiply-adds are 2000 warp instructions.
  CHECK(*at_most("shared_load_requests_per_fma", 1, call, work).value == 0.5);
  CHECK(*at_most("shared_load_wavefronts_per_fma", 1, call, work).value == 2);
  CHECK(*at_most("load_requests_per_fma", 1, call, work).value == 1);
}

TEST_CASE("large figures have no exponent, and a value of 1 is printed in the singular") {
  const auto words = [](const char* name, double value) {
    return in_words(*find_goal_counter(name), value);
  };
  CHECK(words("kernel_launches", 1) == "1 kernel launch");
  CHECK(words("kernel_launches", 2) == "2 kernel launches");
  CHECK(words("global_load_sectors_per_request", 1) == "1 sector per request of global loads");
  CHECK(words("global_load_sectors_per_request", 1.5) == "1.5 sectors per request of global loads");
  CHECK(words("kernel_launches", 12290) == "12290 kernel launches");
  CHECK(words("shared_wavefronts_over_ideal", 1) == "1.0x the wavefronts without bank conflicts");
}

TEST_CASE("there is no figure for an operation that never happens") {
  const std::vector<kernel_profile> call = {kernel(1, {line(5, 1000, 4000, 4000)})};
  CHECK(!at_most("global_store_sectors_per_request", 4, call).value);
  CHECK(!at_most("shared_store_wavefronts_per_request", 1, call).value);
  CHECK(!at_most("shared_load_wavefronts_per_fma", 1, call, {100, 100, "additions"}).value);
  CHECK(!at_most("global_load_sectors_per_request", 4, {}).value);
  CHECK(!at_most("kernel_launches", 2, {}).value);
  CHECK(!at_most("spill_bytes_per_thread", 0, {}).value);
  CHECK(*at_most("spill_bytes_per_thread", 0, call).value == 0);
}

TEST_CASE("copies and fills on the device count as moved bytes") {
  const std::vector<kernel_profile> call = {kernel(1, {line(5, 100, 800, 800)})};
  problem_work work;
  work.bytes = 800 * 32;
  const goal_counter& moved = named("global_bytes_over_minimum");
  CHECK(*figure_of(moved, call, {}, work, bound::at_most, 2).value == 1);
  const goal_figure with =
      figure_of(moved, call, {1, 800 * 32, 1, 400 * 32, 0}, work, bound::at_most, 2);
  CHECK(*with.value == doctest::Approx(3.5));
  CHECK(with.of_transfers == doctest::Approx(2.5));
  CHECK(figure_of(moved, {}, {1, 800 * 32, 0, 0, 0}, work, bound::at_most, 2).value);
}

TEST_CASE("an atomic counts as a load") {
  line_profile atoms = line(5, 0, 0, 0);
  atoms.counts.shared_atomic = {10, 320, 20, 10, 0};
  atoms.counts.global_atomic.requests = 30;
  const std::vector<kernel_profile> call = {kernel(1, {atoms})};
  const problem_work work = {0, 640, "flop"};  // ten multiply-adds per lane of a warp
  CHECK(*at_most("shared_load_requests_per_fma", 1, call, work).value == 1);
  CHECK(*at_most("shared_load_wavefronts_per_fma", 1, call, work).value == 2);
  CHECK(*at_most("load_requests_per_fma", 1, call, work).value == 4);
}

TEST_CASE("a tile in shared memory for a small part of the data gives no figure") {
  line_profile tile = line(5, 0, 0, 0);
  tile.counts.shared_store = {10, 320, 10, 10, 0};
  goal g;
  g.counter = &named("shared_wavefronts_over_ideal");
  g.side = bound::at_most;
  g.limit = 1.05;
  const auto found = [&](double bytes) {
    problem_work work;
    work.bytes = bytes;
    return figure_of(g, {kernel(1, {tile})}, {}, work);
  };
  CHECK(found(1e6).value);
  g.least_shared = 0.5;
  CHECK(found(1280).value);
  CHECK(!found(12800).value);
  CHECK(*found(12800).too_little_shared == doctest::Approx(0.1));
}

TEST_CASE("counters have unique names, and each has its texts") {
  std::set<std::string> names;
  for (const auto& c : goal_counters()) {
    CAPTURE(c.name);
    CHECK(names.insert(c.name).second);
    CHECK(!std::string(c.figure).empty());
    CHECK(!std::string(c.absent).empty());
    CHECK((c.of_call != nullptr) == (c.count == nullptr));
    if (c.of_call == nullptr) CHECK((c.base != nullptr) != (c.needed != nullptr));
  }
  CHECK(find_goal_counter("global_load_sectors") == nullptr);
}

namespace {

goal of_kind(goal::kind what, double points) {
  goal g;
  g.name = std::string(name_of(what));
  g.what = what;
  g.points = points;
  return g;
}

goal sectors_at_most(double limit) {
  goal g = of_kind(goal::kind::counter, 20);
  g.counter = &named("global_load_sectors_per_request");
  g.side = bound::at_most;
  g.limit = limit;
  g.size = {1000};
  return g;
}

goal speed(goal::kind what, double limit) {
  goal g = of_kind(what, 30);
  g.over = "00_first";
  g.limit = limit;
  return g;
}

// Grades the fake runner. FAKE_FINDINGS and FAKE_PROFILE hold its findings and counters.
struct graded {
  std::string fake_is = "good", mine_ms = "1", other_ms = "1", findings;
  std::vector<kernel_profile> counted = {kernel(1, {line(5, 100, 800, 400)})};
  bool gpu = false, has_emulator = true;
  double mine_us = 0, other_us = 0;  // from the time model; 0 means no time
  double sample_us = 0;              // of the first profiled call, if it differs from mine_us
  int long_calls = 0;                // the number of first profiled calls that have one long block
  int locks = 0;                     // how often the GPU was locked

  grade_report of(std::vector<goal> goals) {
    l = doubling_lab();
    l.goals = std::move(goals);
    const temporary_folder work(fs::temp_directory_path());
    const auto write = [&](const std::string& name, const std::string& ms, const std::string& is) {
      write_atomically(work.path() / name,
                       "#!/bin/sh\nprofile=$0.profile\n"
                       "for first in \"$0\".first.*; do\n"
                       "  [ -n \"$STEPWISE_PROFILE\" ] && mv \"$first\" \"$0.now\" && "
                       "profile=$0.now && break\n"
                       "done\nFAKE='" +
                           is + "' FAKE_MS=" + ms + " FAKE_PROFILE=\"$profile\" exec '" +
                           fake_runner().string() + "' \"$@\"\n");
      fs::permissions(work.path() / name, fs::perms::owner_all);
    };
    write("mine", mine_ms, fake_is);
    write("build/solutions/doubling-00_first", other_ms, "good");
    write_atomically(work.path() / "findings", findings);
    const auto write_profile = [&](const std::string& name, double us, double longest_us = 0) {
      auto kernels = counted;
      kernels[0].timing.us = us;
      if (longest_us > 0) kernels[0].timing.longest_block_us = longest_us;
      write_atomically(work.path() / name, profile_json(kernels) + "\n");
    };
    write_profile("mine.profile", mine_us);
    for (int n = 0; n < long_calls; ++n)
      write_profile("mine.first." + std::to_string(n), mine_us, 100 * mine_us);
    if (sample_us > 0) write_profile("mine.first.0", sample_us);
    write_profile("build/solutions/doubling-00_first.profile", other_us);
    setenv("FAKE_FINDINGS", (work.path() / "findings").c_str(), 1);
    installation where;
    where.build = work.path() / "build";
    where.emulated_runtime = work.path();
    if (has_emulator) write_atomically(work.path() / "libcudart.so.13", "");
    auto report = grade_program(l, doubling(), "mine", work.path() / "mine", {}, where,
                                gpu ? gpu_device() : emulated_device(), 7, {}, [&] { ++locks; });
    unsetenv("FAKE_FINDINGS");
    return report;
  }
  lab l;  // the report points into it
};

std::string finding_of(finding_kind kind) {
  located_finding f;
  f.what.kind = kind;
  f.what.message = "made up";
  return json_line(f) + "\n";
}

using enum goal::kind;

}  // namespace

TEST_CASE("a kernel with uncounted accesses has no figure, so its goals are held") {
  graded g;
  g.counted[0].uncounted = "tex.2d.v4.f32.f32";
  g.mine_us = 1, g.other_us = 100;
  goal faster = speed(speedup, 2);
  faster.modelled = 2;
  const grade_report r = g.of({of_kind(correct, 40), sectors_at_most(100), faster});
  CHECK(r.what == verdict::held);
  CHECK(r.points == 40);
  CHECK(r.max_points == 40);
  CHECK(r.goals[1].message.find("tex.2d.v4.f32.f32 in k()") != std::string::npos);
}

TEST_CASE("a correct program that the emulator cannot count is held, not wrong") {
  graded g;
  g.fake_is = "limit when counted";
  const grade_report r = g.of({of_kind(correct, 40), sectors_at_most(100)});
  CHECK(r.what == verdict::held);
  CHECK(r.points == 40);
  CHECK(r.max_points == 40);
}

TEST_CASE("a time from blocks that do less work than the others is held") {
  graded g;
  g.mine_us = 1, g.other_us = 100;
  goal faster = speed(speedup, 2);
  faster.modelled = 2;
  CHECK(g.of({of_kind(correct, 40), faster}).what == verdict::pass);
  g.counted[0].timing.likeness = 0.2;
  const grade_report r = g.of({of_kind(correct, 40), faster});
  CHECK(r.what == verdict::held);
  CHECK(r.max_points == 40);
}

TEST_CASE(
    "a grade is held if its modelled time omits one long block, even if the kernel is short") {
  graded g;
  g.mine_us = 1, g.other_us = 100;
  goal faster = speed(speedup, 2);
  faster.modelled = 2;
  g.counted.push_back(g.counted[0]);
  const auto with = [&](double us, double longest_us, double likeness) {
    kernel_timing& t = g.counted[1].timing;  // the other kernel takes one microsecond
    t.us = us, t.longest_block_us = longest_us, t.likeness = likeness;
    return g.of({of_kind(correct, 40), faster}).what;
  };
  CHECK(with(1, 1.9, 1) == verdict::pass);
  CHECK(with(1, 2.5, 1) == verdict::held);
  CHECK(with(0.01, 0.05, 1) == verdict::pass);
  CHECK(with(0.01, 0.5, 1) == verdict::held);
  CHECK(with(0.05, 0.05, 0.5) == verdict::pass);
  CHECK(with(0.05, 0.05, 0.01) == verdict::held);
}

TEST_CASE("a long block holds a grade only if it is long for three inputs") {
  graded g;
  g.mine_us = 1, g.other_us = 100;
  goal faster = speed(speedup, 2);
  faster.modelled = 2;
  const auto after = [&](int long_calls) {
    g.long_calls = long_calls;
    return g.of({of_kind(correct, 40), faster}).what;
  };
  CHECK(after(1 + 2) == verdict::pass);  // the first call samples the blocks, then come two inputs
  CHECK(after(1 + 3) == verdict::held);
}

TEST_CASE("counter: met; missed, with the line; not counted before the results are correct") {
  graded g;
  auto report = g.of({of_kind(correct, 40), sectors_at_most(8)});
  CHECK(report.what == verdict::pass);
  CHECK(report.points == 60);
  CHECK(report.goals[1].message == "8 sectors per request of global loads at n = 1000, seed 7");
  report = g.of({of_kind(correct, 40), sectors_at_most(4)});
  CHECK(report.what == verdict::slow);
  CHECK(report.points == 40);
  CHECK(report.max_points == 60);
  CHECK(report.goals[1].message ==
        "8 sectors per request of global loads at n = 1000, seed 7; the goal is at most 4; "
        "line 5 of k.cu costs the most: line 5");
  CHECK(report.message == report.goals[1].message);
  g.fake_is = "wrong";
  report = g.of({of_kind(correct, 40), sectors_at_most(8)});
  CHECK(report.what == verdict::wrong);
  CHECK(report.points == 0);
  CHECK(report.max_points == 60);
  CHECK(!report.goals[1].counted);
  CHECK(report.goals[1].message == "not judged: the results must be correct first");
}

TEST_CASE("counter: at_least, and an operation that never happens does not meet its goal") {
  graded g;
  goal efficiency = sectors_at_most(50);
  efficiency.counter = &named("global_load_efficiency_percent");
  efficiency.side = bound::at_least;
  CHECK(g.of({of_kind(correct, 40), efficiency}).points == 60);
  efficiency.limit = 51;
  CHECK(g.of({of_kind(correct, 40), efficiency}).points == 40);
  efficiency.counter = &named("global_store_efficiency_percent");
  const auto report = g.of({of_kind(correct, 40), efficiency});
  CHECK(report.goals[1].passed == false);
  CHECK(report.goals[1].message == "there is no global store at n = 1000, seed 7");
}

TEST_CASE("checks: an error loses this goal and all after it, a leak only this goal") {
  graded g;
  const std::vector<goal> goals = {of_kind(correct, 40), of_kind(checks, 10), sectors_at_most(8)};
  auto report = g.of(goals);
  CHECK(report.what == verdict::pass);
  CHECK(report.points == 70);
  CHECK(report.goals[1].message == "no findings at 3 sizes");
  g.findings = finding_of(finding_kind::race);
  report = g.of(goals);
  CHECK(report.what == verdict::check);
  CHECK(report.points == 40);
  CHECK(report.max_points == 70);
  CHECK(report.goals[0].passed == true);
  CHECK(report.goals[1].message == "race: made up");
  CHECK(report.goals[2].message == "not judged: the checks must first find no errors");
  g.findings = finding_of(finding_kind::leak);
  report = g.of(goals);
  CHECK(report.what == verdict::check);
  CHECK(report.points == 60);
  CHECK(report.goals[1].message == "memory leak: made up");
}

TEST_CASE("checks: in a lab without such a goal, an error loses correctness, a leak nothing") {
  graded g;
  g.findings = finding_of(finding_kind::race);
  auto report = g.of({of_kind(correct, 40), sectors_at_most(8)});
  CHECK(report.what == verdict::check);
  CHECK(report.points == 0);
  g.findings = finding_of(finding_kind::leak);
  report = g.of({of_kind(correct, 40), sectors_at_most(8)});
  CHECK(report.what == verdict::pass);
  CHECK(report.points == 60);
}

TEST_CASE("checks: if a race causes a wrong result, the race is reported") {
  graded g;
  g.fake_is = "wrong";
  g.findings = finding_of(finding_kind::race);
  const auto report = g.of({of_kind(correct, 40), of_kind(checks, 10)});
  CHECK(report.what == verdict::check);
  CHECK(report.points == 0);
  CHECK(report.message.starts_with("race: made up\nout[0] is wrong"));
}

TEST_CASE("reach: a fraction of a step's speed, measured like a speedup") {
  graded g;
  g.gpu = true;
  g.mine_ms = "1.1";  // 0.91x
  const std::vector<goal> goals = {of_kind(correct, 40), speed(reach, 0.9), speed(reach, 0.95)};
  const auto report = g.of(goals);
  CHECK(report.points == 70);
  CHECK(report.goals[1].message.starts_with("0.91x the speed of 00_first"));
  CHECK(report.goals[2].passed == false);
  CHECK(report.goals[2].message.find("the goal is 0.95x") != std::string::npos);
  CHECK(report.what == verdict::slow);
  g.gpu = false;
  const auto emulated = g.of(goals);
  CHECK(emulated.points == 40);
  CHECK(emulated.max_points == 40);
  CHECK(!emulated.goals[1].passed);
  CHECK(emulated.goals[1].message.starts_with("not graded here: "));
}

TEST_CASE("a program that the emulator finds wrong does not lock the GPU") {
  graded g;
  const std::vector<goal> goals = {of_kind(correct, 40), speed(reach, 0.9)};
  (void)g.of(goals);
  CHECK(g.locks == 0);  // there is no GPU to lock
  g.gpu = true;
  g.fake_is = "wrong";
  CHECK(g.of(goals).what == verdict::wrong);
  CHECK(g.locks == 0);
  g.has_emulator = false;
  CHECK(g.of(goals).what == verdict::wrong);
  CHECK(g.locks == 1);
  g.has_emulator = true;
  g.fake_is = "good";
  CHECK(g.of(goals).what == verdict::pass);
  CHECK(g.locks > 1);
}

TEST_CASE("without a GPU, modelled times decide if the goal has a threshold for them") {
  graded g;
  g.mine_us = 50;
  g.other_us = 100;
  std::vector<goal> goals = {of_kind(correct, 40), speed(speedup, 1.5), speed(reach, 0.9)};
  goals[1].modelled = 1.8;
  goals[2].modelled = 2.2;
  auto report = g.of(goals);
  CHECK(report.goals[1].passed == true);
  CHECK(report.goals[1].message.starts_with("2.00x over 00_first (modelled, "));
  CHECK(report.goals[1].modelled->mine_ms == doctest::Approx(0.05));
  CHECK(report.goals[2].passed == false);
  CHECK(report.goals[2].message.ends_with("; the goal is 2.20x"));
  CHECK(report.points == 40 + goals[1].points);
  CHECK(report.max_points == 40 + goals[1].points + goals[2].points);
  CHECK(report.what == verdict::slow);
  g.other_us = 0;  // The step has no time, which is not the file's fault
  report = g.of(goals);
  CHECK(!report.goals[1].passed);
  CHECK(
      report.goals[1].message.starts_with("not graded here, because there is no modelled time: "));
  CHECK(report.what == verdict::pass);
  g.other_us = 100;
  g.fake_is = "wrong";
  CHECK(g.of(goals).goals[1].passed == false);
}

TEST_CASE("a goal that the sample misses stays missed, whatever all blocks take for another goal") {
  graded g;
  g.sample_us = 60;
  g.mine_us = 50;
  g.other_us = 100;
  std::vector<goal> goals = {of_kind(correct, 40), speed(speedup, 1.5), speed(reach, 0.9)};
  goals[1].modelled = 1.5;
  goals[2].modelled = 1.8;
  const auto report = g.of(goals);
  CHECK(report.goals[1].passed == true);
  CHECK(report.goals[1].modelled->ratio == doctest::Approx(2));
  CHECK(report.goals[2].passed == false);
  CHECK(report.goals[2].message.starts_with("1.67x the speed of 00_first (modelled, "));
  CHECK(report.points == 40 + goals[1].points);
}

TEST_CASE("on a GPU, the emulator judges checks and counters; without it, they are not judged") {
  graded g;
  g.gpu = true;
  g.mine_ms = "0.5";
  const std::vector<goal> goals = {of_kind(correct, 40), of_kind(checks, 10), sectors_at_most(4),
                                   speed(speedup, 1.5)};
  auto report = g.of(goals);
  CHECK(report.points == 80);
  CHECK(report.max_points == 100);
  CHECK(report.goals[2].passed == false);
  CHECK(report.what == verdict::slow);
  g.has_emulator = false;
  report = g.of(goals);
  CHECK(report.points == 70);
  CHECK(report.max_points == 70);
  CHECK(!report.goals[1].passed);
  CHECK(!report.goals[2].passed);
  CHECK(report.what == verdict::pass);
}
