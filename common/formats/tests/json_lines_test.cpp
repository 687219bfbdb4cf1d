// Records as lines: the content of each line, and the round trip of a whole record.
#include "common/formats/json_lines.hpp"

#include <doctest/doctest.h>

using stepwise::json;
using stepwise::json_lines_text;
using stepwise::parse_json_lines;

TEST_CASE(
    "a record has a line for its head, each size and each entry, and is read back unchanged") {
  const json record = {
      {"gpu", "NVIDIA H200"},
      {"entries",
       {{{"step", "01_a"}, {"size", {8, 9}}, {"ms", 0.1}, {"label", "n = 8"}, {"bytes", 64.0}},
        {{"step", "02_b"}, {"size", {8, 9}}, {"ms", 2e-05}, {"label", "n = 8"}, {"bytes", 64.0}},
        {{"step", "02_b"}, {"size", {16}}, {"ms", 3}},
        {{"name", "clock"}, {"value", 1.5}, {"bytes", 7}}}}};
  const std::string text = json_lines_text(record);
  CHECK(text ==
        "{\"gpu\":\"NVIDIA H200\"}\n"
        "{\"describes\":[8,9],\"label\":\"n = 8\",\"bytes\":64.0}\n"
        "{\"step\":\"01_a\",\"size\":[8,9],\"ms\":0.1}\n"
        "{\"step\":\"02_b\",\"size\":[8,9],\"ms\":2e-05}\n"
        "{\"step\":\"02_b\",\"size\":[16],\"ms\":3}\n"
        "{\"name\":\"clock\",\"value\":1.5,\"bytes\":7}\n");
  CHECK(parse_json_lines(text) == record);
  CHECK(parse_json_lines("{\"gpu\": \"a\"}") == json{{"gpu", "a"}, {"entries", json::array()}});
}

TEST_CASE("a malformed line is reported with its number") {
  CHECK_THROWS_WITH_AS(parse_json_lines("{}\n[1]\n"), "line 2: expected an object",
                       stepwise::json_error);
  CHECK_THROWS_WITH_AS(parse_json_lines("{}\n{}\n{\"a\":\n"), doctest::Contains("line 3: "),
                       stepwise::json_error);
  CHECK_THROWS_WITH_AS(parse_json_lines(""), doctest::Contains("line 1: "), stepwise::json_error);
}
