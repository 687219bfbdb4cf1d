// The project's three functions around nlohmann-json.
#include "common/formats/json.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

TEST_CASE("an object keeps the order of its keys, and is written as it was read") {
  const std::string text = R"({"z":1,"a":[1,2.5],"names":["a","b"],"inner":{"x":null}})";
  CHECK(json_text(parse_json(text)) == text);
  CHECK(json_text(json{{"n", 1}}, 2) == "{\n  \"n\": 1\n}");
}

TEST_CASE("malformed and deeply nested texts are errors") {
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  CHECK_THROWS_AS(parse_json("{\"a\": "), json_error);
  CHECK_THROWS_WITH_AS(parse_json(deep), doctest::Contains("nested too deeply"), json_error);
  CHECK(parse_json_or_null("{\"a\": ").is_null());
  CHECK(parse_json_or_null(deep).is_null());
  CHECK(parse_json_or_null("").is_null());
}

TEST_CASE("bytes that are not UTF-8 are replaced, not refused") {
  CHECK(json_text("a\xff") == "\"a\xef\xbf\xbd\"");
}
