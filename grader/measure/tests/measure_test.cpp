// Tests medians, intervals, alternation and records of `lab dev bench`.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "common/cpu/cpu.hpp"
#include "grader/judge/tests/two_programs.hpp"
#include "grader/measure/alternate.hpp"
#include "grader/measure/record.hpp"
#include "grader/measure/statistics.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::tests;

TEST_CASE("medians") {
  CHECK(median({}) == 0);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
}

TEST_CASE("the interval of the median is the binomial interval") {
  std::vector<double> values;
  for (int i = 1; i <= 21; ++i) values.push_back(i);
  // Tables of the sign test give the 6th and the 16th value for n = 21 and 95 %.
  CHECK(median_interval(values).low == 6);
  CHECK(median_interval(values).high == 16);
  // There are too few values for 95 %, so the interval is the whole range.
  CHECK(median_interval({2, 1, 3}).low == 1);
  CHECK(median_interval({2, 1, 3}).high == 3);
  CHECK(median_interval({5}).low == 5);
}

namespace {

// Counts how often outputs are compared with the reference, per size.
class counting : public doubling {
 public:
  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    ++checks[call.scalars[0]];
    return doubling::check(call, outputs);
  }
  mutable std::map<std::int64_t, int> checks;
};

// A GPU with room for the buffers of all programs.
device_choice roomy_device() {
  auto device = gpu_device();
  device.state.memory_bytes = std::size_t{1} << 30;
  return device;
}

}  // namespace

TEST_CASE("bench and record: every step and size, cold and warm, and the table shows them") {
  const two_programs programs("0.5", "1");
  const lab l = doubling_lab();
  const auto rows =
      bench(l, doubling(), {{"00_first", programs.other()}, {"01_second", programs.mine()}}, {},
            gpu_device(), l.bench, 7, {})
          .rows;
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[1].cells.size() == 2);
  CHECK(rows[1].cells[1].cold.median_ms == doctest::Approx(0.5));
  CHECK(rows[1].cells[1].warm.samples == 8);
  auto device = gpu_device();
  device.name = "NVIDIA H200";
  const auto record =
      record_of(l, device, rows, {}, "2026-11-20T10:00:00Z", "./lab dev bench doubling --record");
  const temporary_folder root(fs::temp_directory_path());
  write_record(root.path() / record_file(l, device.name), record);
  const auto markdown = results_markdown(root.path(), {l});
  CHECK(markdown.find("| 01_second | the second | 500 us | 1.60 GB/s | 2.00x |") !=
        std::string::npos);
  CHECK(markdown.find("NVIDIA H200, n = 100000") != std::string::npos);
  device.name = "NVIDIA H100 80GB HBM3";  // the course lists it after the H200
  write_record(root.path() / record_file(l, device.name),
               record_of(l, device, rows, {}, "2026", "b"));
  CHECK(results_markdown(root.path(), {l}) == markdown);
}

TEST_CASE(
    "baselines: timed with the steps, and in pairs against the last step; the handout shows both") {
  const two_programs programs("0.5", "1");
  lab l = doubling_lab();
  l.baselines = {{"rival", true, "another's"}, {"stick", false, "a yardstick"}};
  const contender mine{"01_second", programs.mine()};
  const contender rival{"rival", programs.other()};
  const auto [rows, fought] = bench(l, doubling(), {mine}, {rival}, gpu_device(), l.bench, 7, {});
  REQUIRE(fought.size() == 1);
  CHECK(fought[0].first == "rival");
  const auto& at_sizes = fought[0].second;
  REQUIRE(at_sizes.size() == 2);
  CHECK(at_sizes[1].cold.ratio == doctest::Approx(2));
  CHECK(at_sizes[1].warm.range.low == doctest::Approx(2));
  CHECK(at_sizes[1].pairs == 21);

  auto device = gpu_device();
  device.name = "NVIDIA H200";
  const auto record = record_of(l, device, rows, fought, "2026-11-20T10:00:00Z", "b");
  REQUIRE(record.at("entries").size() == 6);
  CHECK(record.at("entries").at(1).at("step") == "01_second");
  CHECK(record.at("entries").at(1).at("size") == json{100000});
  CHECK(record.at("entries").at(2).at("baseline") == "rival");
  CHECK(record.at("entries").at(5).at("duel") == "rival");
  const auto document = bench_json(l, device, rows, fought, "2026-11-20T10:00:00Z", "b");
  CHECK(document.at("steps").size() == 1);
  CHECK(document.at("baselines").at(0).at("name") == "rival");
  CHECK(document.at("baselines").at(0).at("sizes").at(1).at("cold").at("gb_per_s") == 0.8);
  CHECK(baselines_lost(record, l, {rival}).empty());
  CHECK(baselines_lost(record, l, {{"stick", programs.other()}}) ==
        std::vector<std::string>{"rival"});
  const temporary_folder root(fs::temp_directory_path());
  write_record(root.path() / record_file(l, device.name), record);
  const auto handout = handout_markdown(root.path(), l);
  CHECK(handout.find("| rival: another's | ") != std::string::npos);
  CHECK(handout.find("| stick: a yardstick | | |") != std::string::npos);  // it was not measured
  CHECK(handout.find("2.000 (2.000 to 2.000) | 2.000 (2.000 to 2.000) | 21 |") !=
        std::string::npos);
  CHECK(results_markdown(root.path(), {l}).find("| rival | another's | 1.00 ms |") !=
        std::string::npos);
}

TEST_CASE("the last step that may help meets the baselines, not one that did not help") {
  const two_programs programs("0.5", "1");
  lab l = doubling_lab();
  l.steps.push_back({"02_third", "00_first", {}, "of no use", ""});
  l.did_not_help = {"02_third"};
  l.baselines = {{"rival", true, "another's"}};
  const auto [rows, fought] =
      bench(l, doubling(), {{"01_second", programs.mine()}, {"02_third", programs.other()}},
            {{"rival", programs.other()}}, gpu_device(), l.bench, 7, {});
  REQUIRE(fought.size() == 1);
  CHECK(fought[0].second.at(0).cold.ratio == doctest::Approx(2));
  const temporary_folder root(fs::temp_directory_path());
  const auto device = gpu_device();
  write_record(root.path() / record_file(l, device.name),
               record_of(l, device, rows, fought, "2026", "b"));
  CHECK(handout_markdown(root.path(), l).find("Speed of `01_second` relative to rival") !=
        std::string::npos);
}

TEST_CASE("a baseline on the CPU: its rounds come last, without pairs, and its row names the CPU") {
  const two_programs programs("0.5", "1");
  lab l = doubling_lab();
  l.baselines = {{"cpu", true, "all cores", true}, {"rival", true, "another's"}};
  activity now;
  std::vector<std::string> done;
  now.doing = [&](const std::string& what) { done.push_back(what); };
  const contender cpu{"cpu", programs.other(), true, true};
  const auto [rows, fought] =
      bench(l, doubling(), {{"01_second", programs.mine()}}, {cpu, {"rival", programs.other()}},
            gpu_device(), {{1000}}, 7, now);
  REQUIRE(rows.size() == 3);
  REQUIRE(rows[1].cells.size() == 1);
  CHECK(rows[1].cells[0].cold.samples == 8);
  CHECK(rows[1].cells[0].warm.samples == 8);
  REQUIRE(fought.size() == 1);
  CHECK(fought[0].first == "rival");
  CHECK(fought[0].second[0].cold.ratio == doctest::Approx(2));
  const auto is_of_cpu = [](const std::string& what) {
    return what.ends_with(": cpu") && what.find("round") != std::string::npos;
  };
  const auto first = std::find_if(done.begin(), done.end(), is_of_cpu);
  REQUIRE(first != done.end());
  CHECK(std::count_if(first, done.end(), is_of_cpu) == 2 * 8);
  for (auto after = first; after != done.end(); ++after)
    CHECK((is_of_cpu(*after) || after->find("checking") != std::string::npos));

  const auto record = record_of(l, gpu_device(), rows, fought, "2026-11-20T10:00:00Z", "b");
  CHECK(record.at("cpu").at("name") == host::cpu_name());
  CHECK(record.at("cpu").at("threads") == host::thread_count());
  CHECK(record.at("entries").at(1).at("on") == "cpu");
  CHECK(record.at("entries").at(2).at("on") == "gpu");
  const temporary_folder root(fs::temp_directory_path());
  write_record(root.path() / "solutions/doubling/measured/h200.jsonl", record);
  const std::string what =
      "CPU, " + std::to_string(host::thread_count()) + " threads: all cores | ";
  const auto handout = handout_markdown(root.path(), l);
  CHECK(handout.find("| cpu: " + what) != std::string::npos);
  CHECK(handout.find("CPU: " + host::cpu_name() + ", ") != std::string::npos);
  CHECK(results_markdown(root.path(), {l}).find("| cpu | " + what + "1.00 ms |") !=
        std::string::npos);
}

TEST_CASE("a record made without the CPU baseline has no row for it") {
  const two_programs programs("0.5", "1");
  lab l = doubling_lab();
  l.baselines = {{"cpu", true, "all cores", true}, {"rival", true, "another's"}};
  const auto [rows, fought] = bench(l, doubling(), {{"01_second", programs.mine()}},
                                    {{"rival", programs.other()}}, gpu_device(), {{1000}}, 7, {});
  const auto record = record_of(l, gpu_device(), rows, fought, "2026-11-20T10:00:00Z", "b");
  CHECK(!record.contains("cpu"));
  const temporary_folder root(fs::temp_directory_path());
  write_record(root.path() / "solutions/doubling/measured/h200.jsonl", record);
  for (const auto& text : {handout_markdown(root.path(), l), results_markdown(root.path(), {l})}) {
    CHECK(text.find("rival") != std::string::npos);
    CHECK(text.find("cpu") == std::string::npos);
    CHECK(text.find("CPU") == std::string::npos);
  }
}

TEST_CASE("without a GPU, only CPU baselines are measured, and a wrong one ends the run") {
  const two_programs programs("0.5", "1", "wrong");
  const lab l = doubling_lab();
  const auto [rows, fought] = bench(l, doubling(), {}, {{"cpu", programs.other(), true, true}},
                                    emulated_device(), l.bench, 7, {});
  REQUIRE(rows.size() == 1);
  REQUIRE(rows[0].cells.size() == 2);
  CHECK(rows[0].cells[1].cold.median_ms == doctest::Approx(1));
  CHECK(fought.empty());
  CHECK_THROWS_AS(bench(l, doubling(), {}, {{"cpu", programs.mine(), true, true}},
                        emulated_device(), l.bench, 7, {}),
                  failure);
}

TEST_CASE("the result of a yardstick is not checked, but there are pairs against it") {
  const two_programs programs("0.5", "1", "wrong");
  const lab l = doubling_lab();
  const contender good{"00_first", programs.other()};
  const auto [rows, fought] = bench(l, doubling(), {good}, {{"stick", programs.mine(), false}},
                                    gpu_device(), l.bench, 7, {});
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].found.ok());
  CHECK(rows[1].cells.size() == 2);
  REQUIRE(fought.size() == 1);
  REQUIRE(fought[0].second.size() == 2);
  CHECK(fought[0].second[0].pairs == 21);
  CHECK(fought[0].second[1].cold.ratio == doctest::Approx(0.5));
}

TEST_CASE("calls of a few microseconds are compared in more pairs, until their ratio is stable") {
  const two_programs programs("0.004", "0.005");
  const auto fought = bench(doubling_lab(), doubling(), {{"00_first", programs.mine()}},
                            {{"rival", programs.other()}}, gpu_device(), {{1000}}, 7, {})
                          .fought;
  REQUIRE(fought.size() == 1);
  CHECK(fought[0].second[0].pairs == 101);
  CHECK(fought[0].second[0].cold.ratio == doctest::Approx(1.25));
}

TEST_CASE("a wrong baseline ends bench; a wrong step is reported without figures") {
  const two_programs programs("0.5", "1", "wrong");
  const lab l = doubling_lab();
  const contender good{"00_first", programs.other()}, wrong{"wrong", programs.mine()};
  CHECK_THROWS_AS(bench(l, doubling(), {good}, {wrong}, gpu_device(), l.bench, 7, {}), failure);
  for (const auto& device : {gpu_device(), roomy_device()}) {
    const auto [rows, fought] =
        bench(l, doubling(), {good, wrong}, {{"rival", programs.other()}}, device, l.bench, 7, {});
    CHECK(rows[0].cells.size() == 2);
    CHECK(rows[1].found.what == verdict::wrong);
    CHECK(rows[1].found.message == "out[0] is wrong (n = 1000, seed 7)");
    CHECK(rows[1].cells.empty());
    CHECK(rows[2].found.ok());
    CHECK(fought.empty());  // the last step is wrong, so there are no pairs
  }
}

TEST_CASE("a program that becomes wrong is found at the end of a size") {
  const two_programs programs("0.5", "1", "late");
  const lab l = doubling_lab();
  for (const auto& device : {gpu_device(), roomy_device()}) {
    const auto rows = bench(l, doubling(), {{"late", programs.mine()}, {"good", programs.other()}},
                            {}, device, l.bench, 7, {})
                          .rows;
    CHECK(rows[0].found.what == verdict::wrong);
    CHECK(rows[1].cells.size() == 2);
  }
  CHECK(programs.calls({"n = 1000,"}) == 2 * 17);
  CHECK(programs.calls({"n = 100000,"}) == 0);
}

TEST_CASE("a program that changes its input is detected") {
  const two_programs programs("0.5", "1", "modified");
  const lab l = doubling_lab();
  const auto rows = bench(l, doubling(), {{"bad", programs.mine()}, {"good", programs.other()}}, {},
                          roomy_device(), l.bench, 7, {})
                        .rows;
  CHECK(rows[0].found.what == verdict::wrong);
  CHECK(rows[1].found.ok());
}

TEST_CASE("if there is room, buffers stay on the device and are copied back once per size") {
  // "reused": results in reused buffers are not checked here. They are wrong, and take half the
  // time.
  const two_programs programs("0.5", "1", "reused");
  const lab l = doubling_lab();
  const counting problem;
  const auto [rows, fought] =
      bench(l, problem, {{"01_second", programs.mine()}},
            {{"rival", programs.other()}, {"stick", programs.other(), false}}, roomy_device(),
            l.bench, 7, {});
  REQUIRE(rows[0].found.ok());
  REQUIRE(rows[0].cells.size() == 2);
  CHECK(rows[0].cells[1].cold.samples == 8);
  CHECK(rows[0].cells[1].cold.median_ms == doctest::Approx(0.25));
  CHECK(fought[0].second[1].warm.ratio == doctest::Approx(4));
  for (const char* const size : {"n = 1000,", "n = 100000,"}) {
    CHECK(programs.calls({size, "uploaded"}) == 1);
    CHECK(programs.calls({size, "left"}) == 1);
    CHECK(programs.calls({size, "left", "warm", "0 + 1"}) == 1);
    // Eight rounds, and two times 21 pairs, in each cache state.
    CHECK(programs.calls({size, "reused", "cold"}) == 8 + 42);
    CHECK(programs.calls({size, "reused", "warm"}) == 8 + 42);
  }
  CHECK(problem.checks == std::map<std::int64_t, int>{{1000, 2}, {100000, 2}});
}

TEST_CASE("if room is short or unknown, buffers are allocated for each visit, and checked once") {
  const lab l = doubling_lab();
  for (const std::size_t memory : {std::size_t{0}, std::size_t{100'000}}) {
    const two_programs programs("0.5", "1", "reused");
    const counting problem;
    auto device = gpu_device();
    device.state.memory_bytes = memory;
    const auto rows =
        bench(l, problem, {{"01_second", programs.mine()}, {"00_first", programs.other()}}, {},
              device, l.bench, 7, {})
            .rows;
    REQUIRE(rows[0].found.ok());
    CHECK(rows[0].cells[1].cold.median_ms == doctest::Approx(0.5));
    CHECK(programs.calls({}) == 2 * 17);
    CHECK(programs.calls({"fresh", "uploaded"}) == 2 * 17);
    CHECK(problem.checks == std::map<std::int64_t, int>{{1000, 2}, {100000, 2}});
  }
}

TEST_CASE("a slow program has fewer rounds, and skips sizes that would take too long") {
  const lab l = doubling_lab();  // the larger size has 100 times the work
  const std::vector<lab_size> sizes = {l.bench[0], l.bench[1], l.bench[0]};
  const auto check = [&](const char* ms, std::size_t cold, std::size_t warm) {
    CAPTURE(ms);
    const two_programs slow(ms, "1");
    const auto rows =
        bench(l, doubling(), {{"slow", slow.mine()}}, {}, gpu_device(), sizes, 7, {}).rows;
    REQUIRE(rows[0].cells.size() == 2);  // the smaller size is measured again
    CHECK((rows[0].cells[1].size == sizes[2]));
    CHECK(rows[0].cells[0].cold.samples == cold);
    CHECK(rows[0].cells[0].warm.samples == warm);
  };
  // The limit of 600 ms is checked after two rounds. The first visit makes three calls, because the
  // time of a call is not known yet. The other visits make one call.
  check("300", 2, 2);
  check("120", 4, 6);
  check("60", 8, 8);
}

TEST_CASE("a visit to a slow program makes one warm-up and one call; the number of pairs stays") {
  const two_programs slow("12", "1");
  lab l = doubling_lab();
  const auto [rows, fought] = bench(l, doubling(), {{"slow", slow.mine()}},
                                    {{"rival", slow.other()}}, gpu_device(), {{1000}}, 7, {});
  CHECK(rows[0].cells[0].cold.samples == 8);
  CHECK(fought[0].second[0].pairs == 21);
  // The first visit, before the program is known to be slow.
  CHECK(slow.calls({"cold, 1 + 3"}) == 1);
  CHECK(slow.calls({"cold, 1 + 1"}) == 7 + 21);
  CHECK(slow.calls({"warm, 1 + 1"}) == 8 + 21);
}

TEST_CASE("the README's table is replaced between its markers") {
  const std::string readme = "a\n<!-- results:begin -->\nold\n<!-- results:end -->\nb\n";
  const auto fresh = with_results(readme, "new\n");
  CHECK(fresh == "a\n<!-- results:begin -->\nnew\n<!-- results:end -->\nb\n");
  CHECK(with_results(fresh, "new\n") == fresh);
  CHECK_THROWS_AS(with_results("no markers", "new"), failure);
}

TEST_CASE("the README's table uses the largest size at which all steps were measured") {
  const temporary_folder root(fs::temp_directory_path());
  const fs::path file = root.path() / "solutions" / "doubling" / "measured" / "h200.jsonl";
  fs::create_directories(file.parent_path());
  lab l = doubling_lab();
  l.steps.resize(2);
  l.steps[0].name = "01_slow";
  l.steps[1].name = "02_quick";
  const auto entry = [](const char* step, int n) {
    return json{{"step", step},
                {"size", {n}},
                {"bytes", 8.0 * n},
                {"label", "n = " + std::to_string(n) + ", seed 7"},
                {"operations", 0.0},
                {"rate_in", "bytes"},
                {"cold", {{"median_ms", 1.0}}}};
  };
  const auto write = [&](const std::vector<int>& of_slow) {
    json entries = json::array();
    for (const int n : of_slow) entries.push_back(entry("01_slow", n));
    for (const int n : {10, 20, 30}) entries.push_back(entry("02_quick", n));
    write_record(file, {{"gpu", "a GPU"},
                        {"driver", "1"},
                        {"date", "2026-01-01"},
                        {"command", "./lab dev bench"},
                        {"entries", entries}});
  };
  const auto says = [&](const char* what) {
    return results_markdown(root.path(), {l}).find(what) != std::string::npos;
  };
  write({10, 20});
  CHECK(says("n = 20 "));
  CHECK_FALSE(says("not measured"));
  write({});  // too slow at every size, so its row has no figures
  CHECK(says("n = 30 "));
  CHECK(says("not measured"));
}

TEST_CASE("file names for GPUs") {
  CHECK(gpu_file_name("NVIDIA H200") == "h200");
  CHECK(gpu_file_name("NVIDIA H100 80GB HBM3") == "h100");  // the name in common/gpus/
  CHECK(gpu_file_name("NVIDIA GeForce RTX 5090") == "geforce-rtx-5090");
  CHECK(gpu_file_name("../x") == "x");
  const lab l = doubling_lab();
  CHECK(record_file(l, "NVIDIA H200") == "solutions/doubling/measured/h200.jsonl");
  CHECK(record_file(l, "NVIDIA H200", "limits") == "solutions/doubling/measured/h200.limits.jsonl");
}
