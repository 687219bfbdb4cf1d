// Tables and charts of made-up points.
#include "grader/cli/text/sweep_text.hpp"

#include <doctest/doctest.h>

#include "grader/cli/text/ragged_text.hpp"
#include "grader/measure/tests/sweep_points.hpp"
#include "grader/report/text.hpp"

using namespace stepwise;
using namespace stepwise::tests;

namespace sweep_text_test {
namespace {

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("times are shown with their intervals, and the best one per occupancy is marked") {
  const std::vector<swept_axis> axes = {axis("threads=32,64,128,256,512")};
  const std::vector<sweep_point> points = {timed({"32"}, 16, 1.5), timed({"64"}, 32, 1.01, 0.02),
                                           timed({"128"}, 48, 1.0), timed({"256"}, 64, 1.0005),
                                           timed({"512"}, 64, 1.3)};
  const sweep_view view{axes, points, nullptr, 132, "NVIDIA H200"};
  const std::string chart = joined(cli::occupancy_chart(view, {false, false, 100}));
  CHECK(has(chart, "25 %   #"));
  CHECK(has(chart, "100 %  #"));
  const std::string table = joined(cli::sweep_table(view, {false, false, 120}));
  CHECK(has(table, "95 % interval"));
  CHECK(has(table, "GB/s *\n"));
  CHECK(has(table, "1.50 to 1.50 ms"));
  CHECK(has(table, "990 us to 1.03 ms"));
}

TEST_CASE("modelled times have no interval; the step's record, or a reason, is next to them") {
  const std::vector<swept_axis> axes = {axis("threads=32,64,128")};
  std::vector<sweep_point> points = {modelled({"32"}, 16, 1.5), modelled({"64"}, 32, 1.01),
                                     modelled({"128"}, 64, 0)};
  points[1].recorded_ms = 0.97;
  points[2].why_no_time = "the call did not end within 20 s";
  points[0].modelled_blocks = 77;
  const sweep_view view{axes, points, nullptr, 132, "NVIDIA H200", 0.08};
  const std::string table = joined(cli::sweep_table(view, {false, false, 100}));
  CHECK(has(table, "modelled"));
  CHECK(has(table, "1.01 ms    970 us"));
  CHECK(has(table, "no time"));
  CHECK(has(table, " 77 "));
  CHECK(!has(table, "95 %"));
  CHECK(has(joined(cli::sweep_chart(view, {false, false, 100})), "rate (modelled, higher"));
}

TEST_CASE("the table names all limits if there are several, or omits the column") {
  const std::vector<swept_axis> axes = {axis("threads=64,128"), axis("items=8")};
  std::vector<sweep_point> points = {timed({"64", "8"}, 64, 1.0), timed({"128", "8"}, 64, 1.1)};
  for (auto& point : points) {
    auto& fits = point.kernels[0].fits;
    fits.by_warps = fits.by_registers = fits.by_blocks = true;
  }
  const sweep_view view{axes, points, nullptr, 132, "NVIDIA H200"};
  CHECK(has(joined(cli::sweep_table(view, {false, false, 100})), "warps+regs+blocks "));
  const std::string narrow = joined(cli::sweep_table(view, {false, false, 60}));
  CHECK(!has(narrow, "warps"));
  CHECK(has(narrow, "100 %"));
}

TEST_CASE("the figures of a counter are drawn as bars") {
  const std::vector<swept_axis> axes = {axis("ways=1,2")};
  std::vector<sweep_point> points = {counted({"1"}, 200, 256, 64, 100),
                                     counted({"2"}, 200, 256, 64, 100)};
  points[1].kernels[0].total.instructions[0].lanes = 16 * 100;
  const sweep_view view{axes, points, find_goal_counter("warp_execution_efficiency_percent"), 132,
                        "NVIDIA H200"};
  CHECK(has(joined(cli::sweep_chart(view, {false, false, 80})), "ways = 2  ####"));
}

TEST_CASE("two axes make a matrix if there is room, and a point that fails shows its class") {
  const std::vector<swept_axis> axes = {axis("threads=32,64"), axis("items=1,2,4")};
  std::vector<sweep_point> points;
  for (const auto* threads : {"32", "64"})
    for (const auto* items : {"1", "2", "4"})
      points.push_back(counted({threads, items}, 200, 64, 64, 100));
  points[4].found = {verdict::wrong, "z[0] = 1"};
  const sweep_view view{axes, points, nullptr, 132, "NVIDIA H200"};
  const auto lines = cli::sweep_chart(view, {false, false, 80});
  REQUIRE(lines.size() == 5);
  CHECK(has(lines[1], "threads  items = 1"));
  CHECK(has(lines[4], "WRONG"));
  const auto narrow = cli::sweep_chart(view, {false, false, 20});
  CHECK(has(narrow.back(), "threads = 64, items = 4  #"));  // bars instead of a matrix
  const auto table = cli::sweep_table(view, {false, false, 60});
  REQUIRE(table.size() == 8);
  CHECK(has(table[6], "WRONG"));
  for (const auto& line : table) CHECK(display_width(line) <= 60);
  CHECK(!has(table[0], "spilled"));
  CHECK(!has(table[0], "shared"));
}

TEST_CASE("the worst of the drawn sizes come first, next to the median of all sizes") {
  const auto at = [](const char* label, double ratio) {
    return json{{"baseline", "copy"},  {"label", label}, {"class", "odd"},
                {"step_ms", 0.5},      {"ratio", ratio}, {"low", ratio - 0.01},
                {"high", ratio + 0.01}};
  };
  const json record = {{"step", "09_columns"},
                       {"seed", 5},
                       {"entries", {at("8", 0.97), at("7", 0.56), at("9", 0.99)}}};
  const std::string text = joined(cli::ragged_lines(record, {false, false, 100}));
  CHECK(text.starts_with(
      "09_columns against copy: relative speed at 3 sizes (seed 5): median 0.970, worst 0.560\n"));
  CHECK(has(text, "0.550 to 0.570"));
  CHECK(text.find("0.560  ") < text.find("0.970  "));
}

}  // namespace sweep_text_test
