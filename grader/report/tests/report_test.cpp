// Tests tables, bars, wrapping, escaping, and numbers with units.
#include <doctest/doctest.h>

#include <algorithm>

#include "grader/report/diff.hpp"
#include "grader/report/table.hpp"
#include "grader/report/terminal.hpp"
#include "grader/report/text.hpp"

using namespace stepwise;

TEST_CASE("width counts columns, not bytes or colour codes") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\u2588\u2026") == 2);
  CHECK(display_width("\x1b[1;31mred\x1b[0m") == 3);
  CHECK(shortened("abcdefgh", 6) == "abc...");
  CHECK(shortened("ab cd efgh", 6) == "ab...");
  CHECK(shortened("\u2588\u2588\u2588\u2588", 3, "\u2026") == "\u2588\u2588\u2026");
}

TEST_CASE("wrapping breaks at spaces and keeps every word") {
  CHECK(wrapped("one two  three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("extraordinary", 5) == std::vector<std::string>{"extraordinary"});
  CHECK(wrapped("", 5).empty());
}

TEST_CASE("output of a program cannot send commands to the terminal") {
  CHECK(escaped_lines("\x1b[31mred\a", 10, 80) == std::vector<std::string>{"\\x1b[31mred\\x07"});
  CHECK(escaped_lines("\xff\xc0\x80", 10, 80) == std::vector<std::string>{"\\xff\\xc0\\x80"});
  CHECK(escaped_lines("a\tb", 10, 80) == std::vector<std::string>{"a       b"});
  CHECK(escaped_lines("\u202e\u009b", 10, 80) == std::vector<std::string>{"\\u202e\\x9b"});
  CHECK(escaped_lines("gr\u00fcn \u03bc", 10, 80) == std::vector<std::string>{"gr\u00fcn \u03bc"});
  CHECK(escaped_lines("1\n2\n3\n4\n5\n6\n", 4, 80) ==
        std::vector<std::string>{"1", "2", "[... 2 lines left out ...]", "5", "6"});
  CHECK(display_width(escaped_lines(std::string(100000, 'x'), 1, 40).at(0)) == 40);
}

TEST_CASE("every occurrence is replaced once") {
  std::string text = "aXbXX";
  replace_all(text, "X", "XX");
  CHECK(text == "aXXbXXXX");
}

TEST_CASE("numbers have three digits and a unit") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(20) == "20");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1234) == "1.23 k");
  CHECK(count_text(999'600) == "1.00 M");
  CHECK(count_text(45.6e9) == "45.6 G");
  CHECK(bytes_text(4'194'304) == "4.19 MB");
  CHECK(time_text(0.0123) == "12.3 us");
  CHECK(time_text(0.25) == "250 us");
  CHECK(time_text(1.5) == "1.50 ms");
  CHECK(time_text(2500) == "2.50 s");
  CHECK(ratio_text(1.069) == "1.07x");
  CHECK(rate_text(4312.4) == "4312 GB/s");
  CHECK(operations_text(52.41e12, "flop") == "52.4 TFLOP/s");
  CHECK(operations_text(812e9, "additions") == "812 G additions/s");
}

namespace {

std::vector<std::string> sample_table(int width) {
  terminal_style style;
  style.width = width;
  return table_lines({{"step"}, {"rate", true}, {"idea", false, true}},
                     {{{"00_pairs"}, {"1 GB/s"}, {"a long idea that needs many columns"}},
                      {{"01_x"}, {"100 GB/s"}, {"short"}}},
                     style);
}

}  // namespace

TEST_CASE("a table fits any width and shortens only the flexible column") {
  const auto wide = sample_table(100);
  CHECK(wide.at(0) == "step          rate  idea");
  CHECK(wide.at(3) == "01_x      100 GB/s  short");
  for (const int width : {40, 50, 60}) {
    for (const auto& line : sample_table(width)) {
      CHECK(display_width(line) <= static_cast<std::size_t>(width));
    }
  }
  CHECK(sample_table(45).at(2).ends_with("..."));
}

TEST_CASE("a column that wraps keeps every word") {
  terminal_style style;
  style.width = 40;
  const auto lines = table_lines(
      {{"step"}, {"idea", false, true, true, true}},
      {{{"00_pairs"}, {"a long idea that needs more than one line"}}, {{"01_x"}, {"short"}}},
      style);
  REQUIRE(lines.size() == 5);
  CHECK(lines[2] == "00_pairs  a long idea that needs more");
  CHECK(lines[3] == "          than one line");
  CHECK(lines[4] == "01_x      short");
}

TEST_CASE("an optional column is dropped rather than cut to a few characters") {
  terminal_style style;
  style.width = 40;
  const auto lines = table_lines(
      {{"step"}, {"idea", false, true, true}},
      {{{"a step with a name of 32 columns"}, {"an idea of some length, at least 24"}}}, style);
  CHECK(lines.at(0) == "step");
}

TEST_CASE("bars have lengths in proportion, and never exceed the terminal's width") {
  terminal_style style;
  style.width = 60;
  const auto lines =
      bar_lines({{"a", 100, "100"}, {"bb", 50, "50"}, {"c", 0, "0"}, {"d", 0.001, "tiny"}}, style);
  const auto count = [](const std::string& line) {
    return std::count(line.begin(), line.end(), '#');
  };
  CHECK(count(lines[0]) == 2 * count(lines[1]));
  CHECK(count(lines[2]) == 0);
  CHECK(count(lines[3]) == 1);
  for (const auto& line : lines) CHECK(display_width(line) <= 60);
  style.unicode = true;
  for (const auto& line : bar_lines({{"a", 3, "3"}, {"b", 2.9, "2.9"}}, style)) {
    CHECK(display_width(line) <= 60);
  }
}

TEST_CASE("colours appear only if they are wanted") {
  terminal_style style;
  CHECK(style.paint(tone::bad, "x") == "x");
  style.colour = true;
  CHECK(style.paint(tone::bad, "x") == "\x1b[1;31mx\x1b[0m");
  CHECK(style.paint(tone::bad, "").empty());
  setenv("NO_COLOR", "1", 1);
  CHECK(!detect_style(1, true).colour);
  unsetenv("NO_COLOR");
}

namespace {

std::string script(const std::vector<diff_line>& lines) {
  std::string text;
  for (const auto& line : lines) text += line.kind + line.text + "|";
  return text;
}

}  // namespace

TEST_CASE("a diff is as short as possible, with removals first") {
  CHECK(script(line_diff({"a", "b", "c"}, {"a", "x", "c"})) == " a|-b|+x| c|");
  CHECK(script(line_diff({}, {"a"})) == "+a|");
  CHECK(script(line_diff({"a"}, {})) == "-a|");
  CHECK(script(line_diff({"a"}, {"a"})) == " a|");
  CHECK(script(line_diff({"a", "b"}, {"c", "d"})) == "-a|-b|+c|+d|");
  CHECK(script(line_diff({"x", "a", "b", "y"}, {"x", "b", "a", "y"})).size() == 2 * 5 + 5);
}

TEST_CASE("one side of a diff gives the first text, the other side the second") {
  const std::vector<std::string> before = {"1", "2", "3", "4", "5", "6"};
  const std::vector<std::string> after = {"0", "2", "3", "x", "5", "7", "8"};
  std::vector<std::string> old_side, new_side;
  for (const auto& line : line_diff(before, after)) {
    if (line.kind != '+') old_side.push_back(before.at(static_cast<std::size_t>(line.old_line)));
    if (line.kind != '-') new_side.push_back(after.at(static_cast<std::size_t>(line.new_line)));
  }
  CHECK(old_side == before);
  CHECK(new_side == after);
}

TEST_CASE("hunks hold changes with three lines of context, and merge when they touch") {
  std::vector<std::string> before, after;
  for (int i = 0; i < 40; ++i) before.push_back(std::to_string(i));
  after = before;
  after[5] = "x";
  after[9] = "y";
  after[30] = "z";
  const auto lines = line_diff(before, after);
  const auto parts = hunks(lines);
  REQUIRE(parts.size() == 2);
  CHECK(lines[parts[0].begin].text == "2");
  CHECK(lines[parts[0].end - 1].text == "12");
  CHECK(hunks(line_diff(before, before)).empty());
}
