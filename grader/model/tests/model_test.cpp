// Tests how modelled times are compared with measured times, and what is read from records.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "grader/measure/records/record_file.hpp"
#include "grader/model/accuracy.hpp"
#include "grader/model/modelled.hpp"
#include "grader/model/recorded_times.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

lab three_steps() {
  lab l;
  l.name = "doubling";
  for (const char* name : {"00_a", "01_b", "02_c"}) {
    step s;
    s.name = name;
    l.steps.push_back(s);
  }
  l.steps[1].over = "00_a";
  l.steps[2].over = "00_a";
  return l;
}

}  // namespace

TEST_CASE("rank correlation: only the order counts, and ties share their mean rank") {
  CHECK(rank_correlation({1, 2, 3}, {10, 200, 3000}) == doctest::Approx(1));
  CHECK(rank_correlation({1, 2, 3}, {3, 2, 1}) == doctest::Approx(-1));
  CHECK(rank_correlation({1, 2, 2, 3}, {1, 2, 2, 3}) == doctest::Approx(1));
  CHECK(rank_correlation({1, 2, 3, 4}, {1, 2, 4, 3}) == doctest::Approx(0.8));
  CHECK(rank_correlation({1}, {2}) == 1);
}

TEST_CASE("errors are relative to the measured time; clearly different pairs have an order") {
  const lab_size n = {1024};
  const std::vector<modelled_time> times = {
      {"00_a", n, 1.0, 1.1}, {"01_b", n, 2.0, 1.0}, {"02_c", n, 1.1, 1.0}};
  const times_summary s = summarise(three_steps(), times);
  CHECK(s.median_error == doctest::Approx(0.1));
  CHECK(s.worst_tenth_error == doctest::Approx(0.5));
  // b is slower than a, but in the model b is faster. c and a are too close to decide. c is clearly
  // faster than b, but in the model they are equal.
  REQUIRE(s.pairs.size() == 2);
  CHECK(s.pairs[0].step == "01_b");
  CHECK(s.pairs[0].is_wrong());
  CHECK(s.pairs[1].step == "02_c");
  CHECK(s.pairs[1].over == "01_b");
  CHECK(s.pairs[1].is_wrong());
  const json j = accuracy_json(three_steps(), "NVIDIA H200", times, s);
  CHECK(j["times"].size() == 3);
  CHECK(j["wrong"].size() == 2);
}

TEST_CASE("a lab's record: cold-cache medians by step and size; a malformed record is reported") {
  const temporary_folder root(std::filesystem::temp_directory_path());
  const auto folder = root.path() / "solutions/doubling/measured";
  std::filesystem::create_directories(folder);
  const lab l = three_steps();
  CHECK(load_recorded_times(root.path(), l, "NVIDIA H200").gpu.empty());
  CHECK(!load_model_error(root.path(), l, "NVIDIA H200"));
  std::ofstream(folder / "h200.jsonl") << R"({"gpu": "NVIDIA H200"}
{"step": "00_a", "size": [2048], "cold": {"median_ms": 2}}
{"step": "00_a", "size": [1024], "cold": {"median_ms": 1}}
{"step": "00_a", "size": [4096], "warm": {"median_ms": 3}}
)";
  const recorded_times all = load_recorded_times(root.path(), l, "NVIDIA H200");
  CHECK(all.gpu == "NVIDIA H200");
  CHECK(all.sizes == std::vector<lab_size>{{1024}, {2048}});
  CHECK(all.find("00_a", {1024}) == 1.0);
  CHECK(!all.find("00_a", {4096}));
  CHECK(!all.find("01_b", {1024}));
  CHECK(all.fastest({1024}) == "00_a");
  CHECK(all.fastest({4096}).empty());
  CHECK(all.cpu_ms.empty());
  std::ofstream(folder / "h200.jsonl")
      << R"({"gpu": "NVIDIA H200", "cpu": {"name": "A CPU", "threads": 4}}
{"step": "00_a", "size": [8], "cold": {"median_ms": 2}}
{"step": "01_b", "size": [8], "cold": {"median_ms": 1}}
{"baseline": "slow", "on": "cpu", "size": [8], "cold": {"median_ms": 9}}
{"baseline": "fast", "on": "cpu", "size": [8], "cold": {"median_ms": 5}}
{"baseline": "cub", "on": "gpu", "size": [8], "cold": {"median_ms": 3}}
{"duel": "cub", "size": [8], "cold": {"ratio": 3}}
)";
  const recorded_times baselines = load_recorded_times(root.path(), l, "NVIDIA H200");
  CHECK(baselines.fastest({8}) == "01_b");
  CHECK(baselines.cpu == "A CPU, 4 threads");
  CHECK(baselines.cpu_ms.at({8}) == 5);
  std::ofstream(folder / "h200.jsonl") << "{}";
  CHECK_THROWS_AS(load_recorded_times(root.path(), l, "NVIDIA H200"), failure);

  write_record(folder / "h200.modelled.jsonl",
               accuracy_record({{"median_error", 0.1},
                                {"worst_tenth_error", 0.3},
                                {"times", {{{"modelled_ms", 1}}, {{"modelled_ms", 2}}}},
                                {"untimed", {{{"message", "too long"}}}},
                                {"wrong", json::array()}}));
  const auto error = load_model_error(root.path(), l, "NVIDIA H200");
  REQUIRE(error);
  CHECK(error->times == 2);
  CHECK(error->worst_tenth == 0.3);
}

TEST_CASE("a step's modelled time is found while its source and parts are as recorded") {
  const temporary_folder root(std::filesystem::temp_directory_path());
  const auto folder = root.path() / "solutions/doubling";
  std::filesystem::create_directories(folder / "measured");
  std::filesystem::create_directories(folder / "parts");
  lab l = three_steps();
  l.steps[0].file = "solutions/doubling/00_a.cu";
  const auto found = [&](const char* name, const char* gpu, std::int64_t n) {
    return find_recorded_model(root.path(), l, name, gpu, {n});
  };
  CHECK(!found("00_a", "NVIDIA H200", 8));
  std::ofstream(folder / "00_a.cu") << "#include \"solutions/doubling/parts/p.hpp\"\na\n";
  std::ofstream(folder / "parts/p.hpp") << "p\n";
  std::ofstream(folder / "measured/h200.guided.jsonl")
      << "{\"gpu\": \"NVIDIA H200\"}\n"
         R"({"step": "00_a", "size": [8], "source": "c743b3374d245af3", "ms": 2.5})";
  CHECK(found("00_a", "NVIDIA H200", 8) == 2.5);
  CHECK(!found("00_a", "NVIDIA H200", 9));
  CHECK(!found("01_b", "NVIDIA H200", 8));
  CHECK(!found("00_a", "NVIDIA H100", 8));
  std::ofstream(folder / "parts/p.hpp") << "q\n";
  CHECK(!found("00_a", "NVIDIA H200", 8));
  std::ofstream(folder / "measured/h200.guided.jsonl") << "{";
  CHECK(!found("00_a", "NVIDIA H200", 8));
}
