// A sweep without compiling: the meaning of --over, times from fake runners, and the sentences
// about figures.
#include "grader/measure/sweep.hpp"

#include <doctest/doctest.h>

#include "grader/course/size.hpp"
#include "grader/measure/sweep_summary.hpp"
#include "grader/measure/tests/sweep_points.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;
using namespace stepwise::tests;

namespace sweep_test {
namespace {

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

sweep_subject subject_of(const std::string& source) {
  return {"mine.cu", "mine.cu", source, constants_of(source)};
}

swept_axis classified(const std::string& over, const std::string& source) {
  return classify(parse_axis(over), subject_of(source), doubling_lab(), doubling());
}

std::string refusal(const std::string& over, const std::string& source) {
  try {
    classified(over, source);
  } catch (const failure& error) {
    CHECK(error.code() == exit_code::usage);
    return error.what();
  }
  return {};
}

std::string all_sentences(const sweep_view& view) {
  std::string text;
  for (const auto& sentence : sweep_sentences(view)) text += sentence + "\n";
  return text;
}

}  // namespace

TEST_CASE("--over names a constant, the size or the register cap") {
  const std::string source = "constexpr int threads = 256;";
  CHECK(classified("threads=1,2", source).kind == axis_kind::constant);
  CHECK(classified("n=1,2", source).kind == axis_kind::size);
  CHECK(classified("size=1,2", source).kind == axis_kind::size);
  CHECK(classified("registers=none,16,255", source).kind == axis_kind::registers);
  CHECK(has(refusal("items=1", source), "mine.cu has no constant \"items\""));
  CHECK(has(refusal("items=1", source), "`registers` the compiler's cap"));
  CHECK(has(refusal("registers=8", source), "8 is not a valid cap: use 16 to 255"));
  CHECK(has(refusal("registers=many", source), "many is not a valid cap"));
  CHECK(has(refusal("n=2x3", source), "--over n=2x3: expected a number like 1000"));
  CHECK(has(refusal("n=1x", source), "--over n=1x: expected a number"));
}

TEST_CASE("a name with two meanings is refused") {
  CHECK(has(refusal("n=1", "\nconstexpr int n = 4;"), "the constant n in line 2 of mine.cu"));
  CHECK(has(refusal("registers=16", "constexpr int registers = 4;"), "the register cap"));
}

TEST_CASE("a size has the same syntax everywhere") {
  const auto parsed = [](const std::string& text) {
    return parse_size(doubling_lab(), doubling(), text, "--size " + text);
  };
  CHECK(parsed("1024") == lab_size{1024});
  CHECK(parsed("2^10") == lab_size{1024});
  CHECK(parse_numbers("2^3x5") == std::vector<std::int64_t>{8, 5});
  for (const char* text : {"abc", "3x4", "3,4", "12x", "x", "2^70", "2^", "1e6", "1 ", "",
                           "99999999999999999999", "99999999999999999999x1"}) {
    CAPTURE(text);
    const std::string expected = "--size " + std::string(text) + ": expected a number like 1000";
    try {
      parsed(text);
      FAIL("the size was accepted");
    } catch (const failure& error) {
      CHECK(error.code() == exit_code::usage);
      CHECK(error.what() == expected);
    }
  }
}

TEST_CASE("a launch that is refused is distinguished from other crashes") {
  const std::string source = "cudaMalloc(&p, n);\nk<<<1, threads>>>();\ncheck(cudaGetLastError());";
  const auto refused = [&](verdict v, const std::string& message) {
    return is_refused_launch({v, message}, source);
  };
  CHECK(refused(verdict::crash, "a.cu:3: cudaErrorInvalidValue: invalid argument (n = 5)"));
  // The program does not check for errors.
  CHECK(refused(verdict::crash, "cudaErrorInvalidValue: invalid argument"));
  CHECK(refused(verdict::crash, "a.cu:3: cudaErrorLaunchOutOfResources: too many resources"));
  CHECK(!refused(verdict::crash, "a.cu:1: cudaErrorInvalidValue: invalid argument"));
  CHECK(refused(verdict::crash, "a.cu:3: k: a block of 2048x1x1 (cudaErrorInvalidValue)"));
  CHECK(refused(verdict::crash, "k: a block of 2048x1x1 (cudaErrorInvalidValue)"));
  CHECK(!refused(verdict::crash, "a.cu:1: the size is 0 (cudaErrorInvalidValue)"));
  CHECK(!refused(verdict::crash, "a.cu:99: cudaErrorInvalidValue: invalid argument"));
  CHECK(!refused(verdict::crash, "a.cu:3: cudaErrorIllegalAddress: an illegal memory access"));
  CHECK(!refused(verdict::compile, "a.cu:3: error: cudaErrorInvalidValue"));
}

TEST_CASE("each combination has a point with its size") {
  const auto points = plan_sweep(doubling_lab(), doubling(),
                                 {axis("a=1,2"), {parse_axis("n=10,20"), axis_kind::size}}, {1000});
  REQUIRE(points.size() == 4);
  CHECK(points[1].size == lab_size{20});
  CHECK(points[1].work.bytes == 160);
  CHECK(points[2].values == std::vector<std::string>{"2", "10"});
  CHECK(plan_sweep(doubling_lab(), doubling(), {axis("a=1")}, {1000})[0].size == lab_size{1000});
}

TEST_CASE("correct configurations are timed alternately; wrong ones are not timed") {
  const temporary_folder work(fs::temp_directory_path());
  const auto program = [&](const std::string& name, const std::string& what, const char* ms) {
    const fs::path file = work.path() / name;
    write_atomically(file, "#!/bin/sh\nFAKE='" + what + "' FAKE_MS=" + ms + " exec '" +
                               fake_runner().string() + "' \"$@\"\n");
    fs::permissions(file, fs::perms::owner_all);
    return file;
  };
  const lab l = doubling_lab();
  const doubling p;
  const installation where;
  auto points =
      plan_sweep(l, p, {axis("a=1..4+1"), {parse_axis("n=1000,100"), axis_kind::size}}, {1});
  const fs::path programs[] = {program("slow", "good", "2"), program("fast", "good", "1"),
                               program("wrong", "wrong", "1"), program("none", "good", "1")};
  for (std::size_t i = 0; i < points.size(); ++i) points[i].program = programs[i / 2];
  points[6].found = points[7].found = {verdict::compile, "no"};
  time_points({l, p, where, gpu_device(), emulated_device()}, points, {});
  CHECK(points[0].time.median_ms == doctest::Approx(2));
  CHECK(points[1].time.median_ms == doctest::Approx(2));
  CHECK(points[2].time.median_ms == doctest::Approx(1));
  CHECK(points[2].time.samples == 8);
  CHECK(points[2].label == "n = 1000");
  CHECK(points[3].label == "n = 100");
  CHECK(points[4].found.what == verdict::wrong);
  CHECK(!points[4].timed());
  CHECK(points[6].found.what == verdict::compile);
  CHECK(!points[6].timed());
}

TEST_CASE("for times, a sentence says where occupancy stops mattering") {
  const std::vector<swept_axis> axes = {axis("threads=32,64,128,256,512")};
  const std::vector<sweep_point> points = {timed({"32"}, 16, 1.5), timed({"64"}, 32, 1.01, 0.02),
                                           timed({"128"}, 48, 1.0), timed({"256"}, 64, 1.0005),
                                           timed({"512"}, 64, 1.3)};
  const sweep_view view{axes, points, nullptr, 132, "NVIDIA H200"};
  CHECK(is_among_the_best(view, points[1]));
  CHECK(!is_among_the_best(view, points[0]));
  CHECK(!is_among_the_best(view, points[4]));
  const std::string text = all_sentences(view);
  CHECK(has(text, "3 of 5 are within 2 % of the best"));
  CHECK(has(text, "threads = 128: 1.00 ms"));
  CHECK(has(text,
            "Occupancy stops mattering at 50 % (threads = 64): below it, the best configuration "
            "takes 1.50x as long (threads = 32, 25 %)"));
  CHECK(
      has(text, "Occupancy alone is not enough: threads = 512 has 100 % and takes 1.30x as long"));
  CHECK(!has(text, "No configuration has a time"));
}

TEST_CASE("if even the lowest occupancy is among the best, occupancy does not decide") {
  const std::vector<swept_axis> axes = {axis("threads=32,64")};
  const std::vector<sweep_point> points = {timed({"32"}, 16, 1.0), timed({"64"}, 64, 1.001)};
  const std::string text = all_sentences({axes, points, nullptr, 132, "NVIDIA H200"});
  CHECK(has(text, "All 2 are within 2 % of the best"));
  CHECK(
      has(text, "Occupancy does not decide: even the lowest of the sweep, 25 % with threads = 32"));
}

TEST_CASE("modelled times within the model's error count as equal, and a sentence says so") {
  const std::vector<swept_axis> axes = {axis("threads=32,64,128,256")};
  std::vector<sweep_point> points = {modelled({"32"}, 16, 1.5), modelled({"64"}, 32, 1.09),
                                     modelled({"128"}, 64, 1.0), modelled({"256"}, 64, 1.02)};
  sweep_view view{axes, points, nullptr, 132, "NVIDIA H200", 0.08};
  CHECK(view.modelled());
  CHECK(is_among_the_best(view, points[3]));
  CHECK(!is_among_the_best(view, points[1]));
  CHECK(figure_title(view) == "rate (modelled, higher is better)");
  const std::string text = all_sentences(view);
  CHECK(
      has(text,
          "By the model: 2 of 4 are within 8 % of the best; the best is threads = 128: 1.00 ms, "));
  CHECK(has(text, "The model is not accurate enough to distinguish them."));
  CHECK(!has(text, "intervals"));
  CHECK(has(text, "warp instructions"));  // counts are reported next to the times
  view.model_error.reset();
  CHECK(is_among_the_best(view, points[1]));
  CHECK(has(all_sentences(view), "3 of 4 are within 10 % of the best"));
  points[0].time = {8, 1.5, {1.4, 1.6}};
  CHECK(!view.modelled());
  CHECK(view.alike() == as_good);
}

TEST_CASE("for a sweep over sizes, rates are compared") {
  const std::vector<swept_axis> axes = {{parse_axis("n=10,100,1000"), axis_kind::size}};
  std::vector<sweep_point> points = {timed({"10"}, 64, 1), timed({"100"}, 64, 1.3),
                                     timed({"1000"}, 64, 12.9)};
  for (auto& point : points) {
    point.size = {std::stoi(point.values[0])};
    point.work = doubling().work(point.size);
  }
  const std::string text = all_sentences({axes, points, nullptr, 132, "NVIDIA H200"});
  CHECK(has(text, "(n = 1000); size 100 is the smallest size within 2 % of it"));
}

TEST_CASE("for counts, the sentences describe the counts, and say nothing about time") {
  const std::vector<swept_axis> axes = {axis("threads=32,48,256")};
  std::vector<sweep_point> points = {counted({"32"}, 100, 32, 32, 1000),
                                     counted({"48"}, 200, 48, 64, 1500),
                                     counted({"256"}, 200, 256, 64, 1000)};
  points[2].kernels[0].spill_bytes = 24;
  const sweep_view view{axes, points, nullptr, 132, "NVIDIA H200"};
  const std::string text = all_sentences(view);
  CHECK(has(text,
            "1.00 k warp instructions with threads = 32, and 1.50 k with threads = 48 (1.50x)"));
  CHECK(has(
      text,
      "100 % in 2 of 3 configurations; the lowest is 50 % with threads = 32, limited by blocks"));
  CHECK(has(text,
            "With threads = 32 the grid has fewer blocks than the NVIDIA H200 has "
            "multiprocessors: 100 for 132"));
  CHECK(has(text, "blocks of 48 threads leave 25 % of their lanes idle"));
  CHECK(has(text, "With threads = 256 the registers are not enough: 24 B per thread"));
  CHECK(has(text, "No configuration has a time"));
}

TEST_CASE("a counter is the main figure if one is given") {
  const std::vector<swept_axis> axes = {axis("ways=1,2")};
  std::vector<sweep_point> points = {counted({"1"}, 200, 256, 64, 100),
                                     counted({"2"}, 200, 256, 64, 100)};
  points[1].kernels[0].total.instructions[0].lanes = 16 * 100;
  const sweep_view view{axes, points, find_goal_counter("warp_execution_efficiency_percent"), 132,
                        "NVIDIA H200"};
  CHECK(figure_of(view, points[0])->value == doctest::Approx(100));
  CHECK(figure_of(view, points[1])->value == doctest::Approx(50));
  CHECK(has(all_sentences(view),
            "Counted: 50 % of the lanes are active in the average instruction with ways = 2, and "
            "100 with ways = 1 (2.00x)"));
}

TEST_CASE("only axes that make a difference are named") {
  const std::vector<swept_axis> axes = {axis("threads=32,64"), axis("items=1,2")};
  const std::vector<sweep_point> points = {
      counted({"32", "1"}, 200, 32, 32, 300), counted({"32", "2"}, 200, 32, 32, 100),
      counted({"64", "1"}, 200, 64, 64, 300), counted({"64", "2"}, 200, 64, 64, 100)};
  const std::string text = all_sentences({axes, points, nullptr, 132, "NVIDIA H200"});
  CHECK(has(text, "100 warp instructions with items = 2, and 300 with items = 1 (3.00x)"));
  CHECK(has(text, "the lowest is 50 % with threads = 32, limited by blocks"));
}

TEST_CASE("a constant that changes nothing is named, and one that changes something is not") {
  const std::vector<swept_axis> axes = {axis("tile=8,16"), axis("threads=64,128")};
  std::vector<sweep_point> points = {
      counted({"8", "64"}, 32, 64, 16, 100), counted({"8", "128"}, 16, 128, 16, 100),
      counted({"16", "64"}, 32, 64, 16, 100), counted({"16", "128"}, 16, 128, 16, 100)};
  const std::string text = all_sentences({axes, points, nullptr, 132, "NVIDIA H200"});
  CHECK(has(text, "All values of tile give the same launches and counts: does the kernel that"));
  CHECK(!has(text, "All values of threads"));
  points[2].kernels[0].total.global_load.sectors = 1;
  CHECK(!has(all_sentences({axes, points, nullptr, 132, "NVIDIA H200"}), "All values of"));
}

TEST_CASE("a register cap that the compiler ignores is reported") {
  const std::vector<swept_axis> axes = {{parse_axis("registers=none,32,16"), axis_kind::registers}};
  const std::vector<sweep_point> points = {counted({"none"}, 200, 32, 32, 100),
                                           counted({"32"}, 200, 32, 32, 100),
                                           // The kernel has 20 registers.
                                           counted({"16"}, 200, 32, 32, 100)};
  const std::string text = all_sentences({axes, points, nullptr, 132, "NVIDIA H200"});
  CHECK(has(text,
            "With registers = 16 the register cap is ignored, and the kernel has 20 registers"));
}

}  // namespace sweep_test
