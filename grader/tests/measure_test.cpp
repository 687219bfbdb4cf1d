#include <doctest/doctest.h>
#include <unistd.h>

#include "grader/judge/grade.hpp"
#include "grader/measure/alternate.hpp"
#include "grader/measure/record.hpp"
#include "grader/measure/statistics.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/tests/doubling.hpp"

using namespace stepwise;
using namespace stepwise::tests;

TEST_CASE("medians") {
  CHECK(median({}) == 0);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
}

TEST_CASE("the interval of the median is the binomial one") {
  std::vector<double> values;
  for (int i = 1; i <= 21; ++i) values.push_back(i);
  // Tables of the sign test: n = 21, 95 %: the 6th and the 16th value.
  CHECK(median_interval(values).low == 6);
  CHECK(median_interval(values).high == 16);
  // Too few for 95 %: the whole range.
  CHECK(median_interval({2, 1, 3}).low == 1);
  CHECK(median_interval({2, 1, 3}).high == 3);
  CHECK(median_interval({5}).low == 5);
}

TEST_CASE("an interval decides, or says that it does not") {
  CHECK(decide({1.5, 1.7}, 1.5) == decision::above);
  CHECK(decide({1.2, 1.4}, 1.5) == decision::below);
  CHECK(decide({1.4, 1.6}, 1.5) == decision::open);
}

namespace {

// Two fake runners of different speed: scripts, because their environment is set when they start.
class two_programs {
 public:
  two_programs(const std::string& mine_ms, const std::string& other_ms,
               const std::string& mine = "good")
      : work_(fs::temp_directory_path()) {
    write("mine", mine, mine_ms);
    write("build/solutions/doubling-00_first", "good", other_ms);
  }
  fs::path mine() const { return work_.path() / "mine"; }
  fs::path build() const { return work_.path() / "build"; }

 private:
  void write(const std::string& name, const std::string& what, const std::string& ms) {
    const fs::path file = work_.path() / name;
    write_atomically(file, "#!/bin/sh\nFAKE='" + what + "' FAKE_MS=" + ms + " exec '" +
                               fake_runner().string() + "' \"$@\"\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  temporary_folder work_;
};

grade_report grade_fake(const two_programs& programs, const device_choice& device,
                        const std::vector<std::string>& errors = {}) {
  const static lab l = doubling_lab();
  installation where;
  where.build = programs.build();
  return grade_program(l, doubling(), "mine", programs.mine(), errors, where, device, 7, {});
}

}  // namespace

TEST_CASE("a speedup is the median ratio of alternating pairs") {
  const two_programs programs("0.5", "1");
  const auto run = compare(doubling_lab(), doubling(), {"mine", programs.mine()},
                           {"00_first", programs.build() / "solutions/doubling-00_first"},
                           gpu_device(), {1000}, 7, 1.5, {});
  REQUIRE(run.found.ok());
  CHECK(run.ratio == doctest::Approx(2));
  CHECK(run.range.low >= 1.9);
  CHECK(run.ratios.size() == 20);
}

TEST_CASE("grade: right and fast earns all, right and slow a part, wrong nothing") {
  const auto fast = grade_fake(two_programs("0.5", "1"), gpu_device());
  CHECK(fast.what == verdict::pass);
  CHECK(fast.points == 100);
  CHECK(fast.max_points == 100);
  const auto slow = grade_fake(two_programs("1", "1"), gpu_device());
  CHECK(slow.what == verdict::slow);
  CHECK(slow.points == 40);
  CHECK(slow.max_points == 100);
  CHECK(slow.goals[1].message.find("the goal is 1.50x") != std::string::npos);
  const auto wrong = grade_fake(two_programs("0.5", "1", "wrong"), gpu_device());
  CHECK(wrong.what == verdict::wrong);
  CHECK(wrong.points == 0);
  CHECK(wrong.goals[1].passed == false);
  CHECK(wrong.goals[1].message == "not judged: it must be correct first");
}

TEST_CASE("grade: a program that turns wrong while it is timed earns no speed") {
  const auto report = grade_fake(two_programs("0.1", "1", "late"), gpu_device());
  CHECK(report.what == verdict::wrong);
  CHECK(report.points == 0);
}

TEST_CASE("grade: without a GPU speed counts neither way") {
  const auto report = grade_fake(two_programs("0.5", "1"), emulated_device());
  CHECK(report.what == verdict::pass);
  CHECK(report.points == 40);
  CHECK(report.max_points == 40);
  CHECK(!report.goals[1].passed);
  CHECK(report.goals[1].message.starts_with("not graded here: "));
}

TEST_CASE("grade: what does not compile is not run") {
  const auto report =
      grade_fake(two_programs("0.5", "1"), emulated_device(), {"x.cu:1: no", "int x"});
  CHECK(report.what == verdict::compile);
  CHECK(report.points == 0);
  CHECK(report.max_points == 40);
  CHECK(report.message == "x.cu:1: no\nint x");
}

TEST_CASE("grade: what is not the submission's fault has no points to lose") {
  const auto report = grade_fake(two_programs("0.5", "1", "no device"), gpu_device());
  CHECK(report.what == verdict::infra);
  CHECK(report.max_points == 0);
  for (const auto& g : report.goals) CHECK(!g.passed);
}

TEST_CASE("grade: faster than the memory allows is held") {
  auto device = gpu_device();
  device.state.peak_gb_per_s = 0.001;  // 100000 ints take 400 ms
  const auto report = grade_fake(two_programs("0.5", "1"), device);
  CHECK(report.what == verdict::held);
  CHECK(!report.goals[1].passed);
  CHECK(report.goals[1].message.find("held for review") != std::string::npos);
}

TEST_CASE("bench and record: every step, every size, cold and warm; the table shows them") {
  const two_programs programs("0.5", "1");
  const lab l = doubling_lab();
  const auto rows = bench(l, doubling(),
                          {{"00_first", programs.build() / "solutions/doubling-00_first"},
                           {"01_second", programs.mine()}},
                          gpu_device(), l.bench, 7, {});
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[1].cells.size() == 2);
  CHECK(rows[1].cells[1].cold.median_ms == doctest::Approx(0.5));
  CHECK(rows[1].cells[1].warm.samples == 8);
  auto device = gpu_device();
  device.name = "NVIDIA H200";
  const auto record =
      record_of(l, device, rows, {}, "2026-11-20T10:00:00Z", "./lab bench doubling --record");
  const temporary_folder root(fs::temp_directory_path());
  write_atomically(
      root.path() / "solutions/doubling/measured" / (gpu_file_name(device.name) + ".json"),
      record.dump());
  const auto markdown = results_markdown(root.path(), {l});
  CHECK(markdown.find("| 01_second | the second | 500 us | 1.60 GB/s | 2.00x |") !=
        std::string::npos);
  CHECK(markdown.find("NVIDIA H200, n = 100000") != std::string::npos);
}

TEST_CASE("peers: beside the steps, and in pairs against the last one; the handout shows both") {
  const two_programs programs("0.5", "1");
  lab l = doubling_lab();
  l.peers = {{"rival", true, "another's"}, {"stick", false, "a yardstick"}};
  const contender mine{"01_second", programs.mine()};
  const contender rival{"rival", programs.build() / "solutions/doubling-00_first"};
  const auto fought = fight(l, doubling(), mine, rival, gpu_device(), l.bench, 7, {});
  REQUIRE(fought.size() == 2);
  CHECK(fought[1].cold.ratio == doctest::Approx(2));
  CHECK(fought[1].warm.range.low == doctest::Approx(2));
  CHECK(fought[1].pairs == 21);

  const auto rows = bench(l, doubling(), {mine, rival}, gpu_device(), l.bench, 7, {});
  auto device = gpu_device();
  device.name = "NVIDIA H200";
  const auto record = record_of(l, device, rows, {{"rival", fought}}, "2026-11-20T10:00:00Z", "b");
  CHECK(record.at("steps").size() == 1);
  CHECK(record.at("peers").at(0).at("name") == "rival");
  const temporary_folder root(fs::temp_directory_path());
  write_atomically(root.path() / "solutions/doubling/measured/h200.json", record.dump());
  const auto handout = handout_markdown(root.path(), l);
  CHECK(handout.find("| rival: another's | ") != std::string::npos);
  CHECK(handout.find("| stick: a yardstick | | |") != std::string::npos);  // not measured
  CHECK(handout.find("2.000 (2.000 to 2.000) | 2.000 (2.000 to 2.000) | 21 |") !=
        std::string::npos);
  CHECK(results_markdown(root.path(), {l}).find("| rival | another's | 1.00 ms |") !=
        std::string::npos);
}

TEST_CASE("a yardstick's result is not looked at, a wrong peer ends the fight") {
  const two_programs programs("0.5", "1", "wrong");
  const lab l = doubling_lab();
  const contender good{"00_first", programs.build() / "solutions/doubling-00_first"};
  const auto rows =
      bench(l, doubling(), {{"stick", programs.mine(), false}, good}, gpu_device(), l.bench, 7, {});
  CHECK(rows[0].found.ok());
  CHECK(rows[0].cells.size() == 2);
  CHECK_THROWS_AS(
      fight(l, doubling(), good, {"rival", programs.mine()}, gpu_device(), l.bench, 7, {}),
      failure);
}

TEST_CASE(
    "where there is room, buffers stay on the device between a program's first and last call") {
  const two_programs programs("0.5", "1", "reused");
  const lab l = doubling_lab();
  const contender mine{"01_second", programs.mine()};
  const contender other{"00_first", programs.build() / "solutions/doubling-00_first"};
  for (const std::size_t memory : {std::size_t{0}, std::size_t{1} << 30, std::size_t{100'000}}) {
    auto device = gpu_device();
    device.state.memory_bytes = memory;
    const bool room = memory == std::size_t{1} << 30;
    const auto rows = bench(l, doubling(), {mine, other}, device, l.bench, 7, {});
    REQUIRE(rows[0].found.ok());  // what is reused is not looked at, and would be wrong
    CHECK(rows[0].cells[1].cold.samples == 8);
    CHECK(rows[0].cells[1].cold.median_ms == doctest::Approx(room ? 0.25 : 0.5));
    const auto fought = fight(l, doubling(), mine, other, device, l.bench, 7, {});
    CHECK(fought[1].warm.ratio == doctest::Approx(room ? 4 : 2));
  }
}

TEST_CASE("a slow program has fewer rounds, and no size that would take too long") {
  const two_programs slow("300", "1");  // the larger size is ten times as much
  const lab l = doubling_lab();
  const auto rows = bench(l, doubling(), {{"slow", slow.mine()}}, gpu_device(), l.bench, 7, {});
  REQUIRE(rows[0].cells.size() == 1);
  CHECK(rows[0].cells[0].cold.samples == 2);
}

TEST_CASE("the README's table is replaced between its markers") {
  const std::string readme = "a\n<!-- results:begin -->\nold\n<!-- results:end -->\nb\n";
  const auto fresh = with_results(readme, "new\n");
  CHECK(fresh == "a\n<!-- results:begin -->\nnew\n<!-- results:end -->\nb\n");
  CHECK(with_results(fresh, "new\n") == fresh);
  CHECK_THROWS_AS(with_results("no markers", "new"), failure);
}

TEST_CASE("file names of GPUs") {
  CHECK(gpu_file_name("NVIDIA H200") == "h200");
  CHECK(gpu_file_name("NVIDIA GeForce RTX 4090") == "geforce-rtx-4090");
  CHECK(gpu_file_name("../x") == "x");
}
