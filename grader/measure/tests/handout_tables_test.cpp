// Records of sweeps, and the tables made from them and from the lectures.
#include "grader/measure/handout_tables.hpp"

#include <doctest/doctest.h>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace handout_tables_test {
namespace {

using namespace stepwise;

lab one_lab() {
  lab l;
  l.name = "doubling";
  l.check = {{1}};
  step first, second;
  first.name = "00_first";
  second.name = "01_second";
  second.over = "00_first";
  l.steps = {first, second};
  return l;
}

swept_axis axis(const char* name, std::vector<std::string> values) {
  return {{name, std::move(values)}, axis_kind::constant};
}

sweep_point point(std::vector<std::string> values, double ms) {
  sweep_point p;
  p.values = std::move(values);
  p.size = {1024};
  p.work.bytes = 8e6;
  p.time = {7, ms, {ms, ms}};
  return p;
}

device_choice some_gpu() {
  device_choice device;
  device.gpu = true;
  device.name = "NVIDIA H200";
  device.state.driver_version = "580.1";
  return device;
}

}  // namespace

TEST_CASE("a sweep is stored under its name, and becomes a table") {
  const temporary_folder root(fs::temp_directory_path());
  const lab l = one_lab();
  CHECK(sweep_markdown(root.path(), l, "both") ==
        "No GPU has been measured yet: `--record both` after the command records one.\n");
  const std::vector<swept_axis> axes = {axis("threads", {"32", "64"}), axis("items", {"1", "2"})};
  const std::vector<sweep_point> points = {point({"32", "1"}, 4), point({"32", "2"}, 2),
                                           point({"64", "1"}, 2.02)};  // the point 64, 2 was wrong
  const sweep_view view{axes, points, nullptr, 0, {}};
  const auto kept = sweep_entries("both", view, "2026-11-25T00:00:00Z", "./lab sweep doubling");
  CHECK(keep_sweep(root.path(), l, some_gpu(), kept) ==
        fs::path("solutions/doubling/measured/h200.sweeps.jsonl"));
  const std::string table = sweep_markdown(root.path(), l, "both");
  CHECK(
      table.starts_with("On an NVIDIA H200 (cold L2; 2026-11-25, driver 580.1, `./lab sweep "
                        "doubling`); * within 2 % of the best\n\n"));
  CHECK(table.find("| threads | items = 1 | items = 2 |\n|---:|---:|---:|\n"
                   "| 32 | 4.00 ms | 2.00 ms * |\n| 64 | 2.02 ms * | |\n") != std::string::npos);
  const std::vector<swept_axis> one_axis = {axis("threads", {"32"})};
  const std::vector<sweep_point> one_point = {point({"32"}, 1)};
  const sweep_view small{one_axis, one_point, nullptr, 0, {}};
  keep_sweep(root.path(), l, some_gpu(),
             sweep_entries("one", small, "2026-11-25T00:00:00Z", "./lab"));
  CHECK(sweep_markdown(root.path(), l, "both") == table);
  CHECK(sweep_markdown(root.path(), l, "one")
            .find("| threads | time | rate |\n|---:|---:|---:|\n"
                  "| 32 | 1.00 ms * | 8.00 GB/s |\n") != std::string::npos);
  write_atomically(root.path() / "solutions/doubling/measured/h200.sweeps.jsonl", "[]");
  CHECK_THROWS_AS(keep_sweep(root.path(), l, some_gpu(), kept), failure);
}

TEST_CASE("finds the sweeps that a page has markers for") {
  CHECK(sweeps_in("a\n<!-- sweep one:begin -->\nx\n<!-- sweep one:end -->\n"
                  "<!-- sweep two:begin -->\n<!-- sweep two:end -->\n") ==
        std::vector<std::string>{"one", "two"});
  CHECK(sweeps_in("<!-- results:begin -->").empty());
}

TEST_CASE("a lecture's published figures stand next to the steps of the record") {
  const temporary_folder root(fs::temp_directory_path());
  const fs::path folder = root.path() / "solutions/doubling";
  lab l = one_lab();
  l.lectures = {{"unnamed",
                 "A talk",
                 "ms",
                 {64},
                 true,
                 {{"slow", "00_first", {}, "", 8},
                  {"quick", "01_second", {}, "", 2},
                  {"wide", "01_second", {"tile=16"}, "", 1}}}};
  CHECK(lectures_markdown(root.path(), l) == "");
  const auto entry = [](const char* step, double ms) {
    return json{{"step", step},
                {"size", {9}},
                {"label", "n = 9, seed 7"},
                {"bytes", 8e6},
                {"cold", {{"median_ms", ms}}}};
  };
  const json record = {{"gpu", "NVIDIA H200"},
                       {"date", "2026-11-25T00:00:00Z"},
                       {"driver", "580.1"},
                       {"command", "./lab dev bench doubling"},
                       {"entries", {entry("00_first", 3), entry("01_second", 1)}}};
  write_record(folder / "measured/h200.jsonl", record);
  const std::string table = lectures_markdown(root.path(), l);
  CHECK(
      table.starts_with("A talk, on an unnamed GPU; our unchanged steps for comparison, on an "
                        "NVIDIA H200, n = 9 (cold L2; 2026-11-25"));
  CHECK(table.find("| slow | 8 ms |  | `00_first` | 3.00 ms | 2.67 GB/s |  |\n") !=
        std::string::npos);
  CHECK(table.find("| quick | 2 ms | 4.00x | `01_second` | 1.00 ms | 8.00 GB/s | 3.00x |\n") !=
        std::string::npos);
  // The time is that of the unchanged step. The changes in `with` are made only for modelled times
  // on the lecture's GPU.
  CHECK(table.find("| wide | 1 ms | 2.00x | `01_second` | 1.00 ms | 8.00 GB/s | 1.00x |\n") !=
        std::string::npos);
}

}  // namespace handout_tables_test
