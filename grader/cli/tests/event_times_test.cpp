// Programs that measure themselves under `lab exec`. Their events follow the time model if there is
// one, and a note explains the times.
#include <doctest/doctest.h>

#include <chrono>

#include "common/device/links.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/report/text.hpp"

using namespace stepwise;

namespace {

constexpr const char* modelled = "times between events are modelled (NVIDIA H200)";
constexpr const char* emulated = "times between events are durations of the emulation on this CPU";

child_result run_measuring(std::vector<std::string> words) {
  words.insert(words.end() - 1, exec_build("events"));
  return exec_program(words);
}

// The number after a word that the program printed.
double figure(const std::string& out, const std::string& word) {
  const auto at = out.find(word + " ");
  REQUIRE_MESSAGE(at != std::string::npos, out);
  return std::stod(out.substr(at + word.size() + 1));
}

double measured(const char* name) { return find_gpu("h200")->measured.at(name); }

json report_of_program(const std::string& option, const std::string& word, std::string& out) {
  const temporary_folder folder(fs::temp_directory_path());
  const std::string file = folder.path() / "report.json";
  const auto result = run_measuring({option, "--report", file, word});
  CHECK(result.end.exit_code == 0);
  out = result.out;
  const json document = parse_json(*read_if_there(file));
  check_documented(document, "exec");
  return document;
}

}  // namespace

TEST_CASE("events around kernels report the profile's times") {
  std::string out;
  const json document = report_of_program("--profile", "kernel", out);
  CHECK(document["event_times"] == "modelled");
  const double one = figure(out, "one"), two = figure(out, "two");
  REQUIRE(document["launched"].size() == 1);
  CHECK(one + two == doctest::Approx(document["launched"][0]["time_ms"].get<double>()));
  // 1000 FMAs of four cycles each, plus the overhead of the first launch and of later launches.
  const double kernel = 1000 * measured("fma_f32_latency") / 1.98e6;
  CHECK(one > kernel + measured("empty_launch") / 1e3);
  CHECK(one < 1.5 * (kernel + measured("empty_launch") / 1e3));
  CHECK(two / 2 ==
        doctest::Approx(one - (measured("empty_launch") - measured("launch_in_a_row")) / 1e3)
            .epsilon(0.05));
}

TEST_CASE("exec --time: the same times as with a profile, on every run, with a note") {
  const auto result = run_measuring({"--time", "kernel"});
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.err, modelled));
  CHECK(!has(result.err, "What limits"));
  CHECK(run_measuring({"--time", "kernel"}).out == result.out);
  std::string profiled;
  report_of_program("--profile", "kernel", profiled);
  CHECK(profiled == result.out);
  const auto other = run_measuring({"--time", "--gpu", "h100", "kernel"});
  CHECK(has(other.err, "modelled (NVIDIA H100 80GB HBM3)"));
  CHECK(figure(other.out, "one") != figure(result.out, "one"));
  // The same with checks.
  const auto both = run_measuring({"--time", "--check", "kernel"});
  CHECK(both.out == result.out);
  CHECK(has(both.err, modelled));
}

TEST_CASE("exec --time: kernels in two streams overlap, unless one stream waits for the other") {
  const auto out = run_measuring({"--time", "streams"}).out;
  const double kernel = 100000 * measured("fma_f32_latency") / 1.98e6;
  CHECK(figure(out, "one") > 2 * kernel);
  CHECK(figure(out, "two") > kernel);
  CHECK(figure(out, "two") == doctest::Approx(figure(out, "one") / 2).epsilon(0.05));
  CHECK(figure(out, "waiting") == doctest::Approx(figure(out, "one")).epsilon(0.05));
}

TEST_CASE("exec --time: a copy takes the time of its bytes on the link, plus a call") {
  const auto out = run_measuring({"--time", "copy"}).out;
  const double link = 0.8 * find_link("pcie5")->bytes_per_s / 2;  // the memory is not pinned
  CHECK(figure(out, "copy") == doctest::Approx(1e3 * (1 << 20) / link).epsilon(0.15));
}

TEST_CASE("clock64 counts an H200's cycles, with and without a model of launches") {
  const double latency = measured("fma_f32_latency");
  for (const auto& words : std::vector<std::vector<std::string>>{{"clock"}, {"--time", "clock"}}) {
    CHECK(figure(run_measuring(words).out, "each") == doctest::Approx(latency).epsilon(0.15));
  }
}

TEST_CASE("a kernel that waits for 10^9 cycles ends soon; its events report the whole wait") {
  const auto started = std::chrono::steady_clock::now();
  CHECK(figure(run_measuring({"--time", "wait"}).out, "wait") ==
        doctest::Approx(1e9 / 1.98e6).epsilon(0.03));
  CHECK(run_measuring({"wait"}).end.exit_code == 0);
  CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(10));
}

TEST_CASE("without a model, a note says so, and how to get modelled times") {
  const auto plain = run_measuring({"kernel"});
  CHECK(has(plain.err, emulated));
  CHECK(has(plain.err, "use `lab exec --time` (NVIDIA H200)"));
  CHECK(!has(plain.err, modelled));
  CHECK(has(run_measuring({"--counters", "kernel"}).err, emulated));
  // A program that never reads a time gets no note.
  CHECK(run_measuring({"nothing"}).err.empty());
  CHECK(!has(run_measuring({"--time", "nothing"}).err, "times between events"));
}

TEST_CASE("with --json the kind of time is a key, and no text precedes the document") {
  const auto result = run_measuring({"--json", "--counters", "kernel"});
  const json document = parse_json(result.err);
  check_documented(document, "exec");
  CHECK(document["event_times"] == "emulation");
  CHECK(parse_json(run_measuring({"--json", "--profile", "kernel"}).err)["event_times"] ==
        "modelled");
}
