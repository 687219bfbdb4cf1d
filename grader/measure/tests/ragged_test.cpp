// Tests how sizes are drawn, and the figures of a record with known numbers.
#include "grader/measure/ragged/ragged.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace ragged_test {
namespace {

using namespace stepwise;

lab a_lab() {
  lab l;
  l.name = "doubling";
  l.ragged = {{500, 300, 0}, {40000, 9999, 3}};  // two lengths, and a kind of inputs
  step last;
  last.name = "01_second";
  l.steps = {last};
  return l;
}

bool within(const lab& l, const lab_size& size) {
  for (std::size_t d = 0; d < size.size(); ++d)
    if (size[d] < l.ragged[0][d] || size[d] > l.ragged[1][d]) return false;
  return size.size() == l.ragged[0].size();
}

bench_cell cell(const lab_size& size, const std::string& label, double ms) {
  bench_cell c;
  c.size = size;
  c.label = label;
  c.work.bytes = 8e6;
  c.cold = {8, ms, {0.9 * ms, 1.1 * ms}};
  return c;
}

device_choice some_gpu() {
  device_choice device;
  device.gpu = true;
  device.name = "NVIDIA H200";
  device.state.driver_version = "580.1";
  return device;
}

bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a third of the drawn sizes is odd, a third divisible by only 4, a third by 32") {
  const lab l = a_lab();
  const auto sizes = draw_ragged(l, 300, 11);
  REQUIRE(sizes.size() == 300);
  int odd = 0, of_4 = 0, of_32 = 0, below_middle = 0;
  std::set<std::int64_t> kinds;
  for (const auto& size : sizes) {
    CAPTURE(size_text(size));
    CHECK(within(l, size));
    odd += size[0] % 2 == 1 && size[1] % 2 == 1;
    of_4 += size[0] % 4 == 0 && size[0] % 32 != 0 && size[1] % 4 == 0 && size[1] % 32 != 0;
    of_32 += size[0] % 32 == 0 && size[1] % 32 == 0;
    below_middle += size[0] < 4472;  // the geometric mean of 500 and 40000
    kinds.insert(size[2]);
  }
  CHECK(odd == 100);
  CHECK(of_4 == 100);
  CHECK(of_32 == 100);
  CHECK(below_middle > 120);  // uniform by order of magnitude: 150 are expected
  CHECK(below_middle < 180);
  CHECK(kinds == std::set<std::int64_t>{0, 1, 2, 3});
  CHECK(class_of(l, {501, 301, 2}) == size_class::odd);
  CHECK(class_of(l, {512, 324, 1}) == size_class::of_4);
  CHECK(class_of(l, {512, 320, 1}) == size_class::of_32);
  CHECK(class_of(l, {512, 301, 1}) == std::nullopt);
}

TEST_CASE("a seed always draws the same sizes, and another seed draws others") {
  const lab l = a_lab();
  CHECK(draw_ragged(l, 60, 5) == draw_ragged(l, 60, 5));
  CHECK(draw_ragged(l, 60, 5) != draw_ragged(l, 60, 6));
  const auto few = draw_ragged(l, 9, 5), more = draw_ragged(l, 60, 5);
  CHECK(std::equal(few.begin(), few.end(), more.begin()));
  // The draw is the same on every machine. The standard specifies the library's engine, and the
  // mapping is our own.
  lab one = l;
  one.ragged = {{256}, {10000}};
  CHECK(draw_ragged(one, 3, 1) == std::vector<lab_size>{{417}, {420}, {1344}});
}

TEST_CASE("both ends of a range are drawn, and a range without one of the classes is an error") {
  lab l = a_lab();
  l.ragged = {{1}, {33}};
  for (const auto& size : draw_ragged(l, 99, 3)) CHECK(within(l, size));
  l.ragged = {{33}, {40}};
  CHECK_THROWS_WITH_AS(draw_ragged(l, 3, 1), doctest::Contains("no number of the class `of 32`"),
                       failure);
  CHECK_THROWS_WITH_AS(draw_ragged(l, 0, 1), doctest::Contains("1 to 1000"), failure);
  CHECK_THROWS_AS(draw_ragged(l, 1001, 1), failure);
  l.ragged.clear();
  CHECK_THROWS_WITH_AS(draw_ragged(l, 3, 1), doctest::Contains("has no sizes.ragged"), failure);
}

TEST_CASE("a run holds as many sizes as memory allows; a larger size is a separate run") {
  const auto runs = in_runs(
      {{7}, {90}, {2}, {30}, {1}, {40}}, [](const lab_size& size) { return double(size[0]); }, 50,
      3);
  CHECK(runs == std::vector<std::vector<lab_size>>{{{1}, {2}, {7}}, {{30}}, {{40}}, {{90}}});
}

TEST_CASE("ratios come from pairs, or from medians if there are no pairs") {
  const lab l = a_lab();
  bench_report first, second;
  const lab_size odd = {501, 301, 0}, of_4 = {516, 324, 0}, of_32 = {512, 320, 0};
  first.rows = {{"01_second", {}, {cell(odd, "odd, seed 7", 2), cell(of_4, "four, seed 7", 1)}},
                {"copy", {}, {cell(odd, "odd, seed 7", 9), cell(of_4, "four, seed 7", 9)}},
                {"cpu", {}, {cell(odd, "odd, seed 7", 8)}}};
  first.fought = {{"copy",
                   {{odd, "odd, seed 7", {0.56, {0.55, 0.57}}, {}, 21},
                    {of_4, "four, seed 7", {0.97, {0.96, 0.98}}, {}, 21}}}};
  second.rows = {{"01_second", {}, {cell(of_32, "even, seed 7", 1)}},
                 {"copy", {}, {cell(of_32, "even, seed 7", 9)}}};
  second.fought = {{"copy", {{of_32, "even, seed 7", {0.99, {0.98, 1.0}}, {}, 21}}}};
  const auto baselines = ragged_points({first, second});
  const json record = ragged_record(l, some_gpu(), 5, 3, baselines, "2026-11-25T00:00:00Z",
                                    "./lab dev bench doubling");
  CHECK(record["entries"].size() == 4);
  const json document = ragged_json(record);
  REQUIRE(document["baselines"].size() == 2);
  CHECK(!document.contains("entries"));
  const json &copy = document["baselines"][0], &cpu = document["baselines"][1];
  CHECK(copy["sizes"].size() == 3);
  CHECK(copy["sizes"][0]["class"] == "odd");
  CHECK(copy["sizes"][0]["low"] == 0.55);
  const auto all = summary_of(copy);
  CHECK(all.sizes == 3);
  CHECK(all.median == 0.97);
  CHECK(all.worst == 0.56);
  CHECK(all.worst_label == "odd");
  CHECK(summary_of(copy, "of 32").worst == 0.99);
  CHECK(summary_of(cpu).median == 4);
  CHECK(summary_of(cpu, "of 4").sizes == 0);
  CHECK(worst_of(copy, 2).size() == 2);
  CHECK(worst_of(copy, 2)[1]["label"] == "four");

  const temporary_folder root(fs::temp_directory_path());
  CHECK(ragged_markdown(root.path(), l) ==
        "No GPU has been measured yet: `./lab dev bench doubling --ragged 60 --record` records "
        "one.\n");
  write_record(root.path() / "solutions/doubling/measured/h200.ragged.jsonl", record);
  const std::string text = ragged_markdown(root.path(), l);
  CHECK(says(text,
             "Relative speed of `01_second` at 3 random sizes on an NVIDIA H200 (cold L2; "
             "2026-11-25, driver 580.1, `./lab dev bench doubling`)"));
  CHECK(says(text, "| all | 3 | 0.970 | 0.560 | odd |\n| odd | 1 | 0.560 | 0.560 | odd |\n"));
  CHECK(says(text, "Worst: odd (0.560); four (0.970); even (0.990).\n"));
}

}  // namespace ragged_test
