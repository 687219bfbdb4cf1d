// JSON values: made, read, written, compared.
#include "common/formats/json.hpp"

#include <doctest/doctest.h>

using stepwise::json;

TEST_CASE("lists of pairs are objects in the order of their keys, other lists are arrays") {
  const json value = {{"z", 1}, {"a", {1, 2}}, {"names", {"a", "b"}}, {"inner", {{"x", nullptr}}}};
  CHECK(value.dump() == R"({"z":1,"a":[1,2],"names":["a","b"],"inner":{"x":null}})");
  CHECK(json{json{1, 2}, json{3, 4}}.dump() == "[[1,2],[3,4]]");
  CHECK(json(std::vector<std::string>{"a", "b"}).dump() == R"(["a","b"])");
  CHECK(json::array({json{"a", "b"}}).dump() == R"([["a","b"]])");
  CHECK(json().dump() == "null");
  CHECK(json{{"n", 1}}.dump(2) == "{\n  \"n\": 1\n}");
}

TEST_CASE("numbers keep their kind, and are equal across kinds") {
  CHECK(json(1.0).dump() == "1.0");
  CHECK(json(0.1).dump() == "0.1");
  CHECK(json(std::uint64_t{18446744073709551615u}).dump() == "18446744073709551615");
  CHECK(json(std::int64_t{-5}).dump() == "-5");
  CHECK(json::parse("[1, 1.0, -1]") == json{1u, 1, -1});
  CHECK(json(-1) != json(std::uint64_t{18446744073709551615u}));
  CHECK(json(true) != json(1));
  CHECK(json(3) > 2);
  CHECK(json(2.5) < 3u);
}

TEST_CASE("what was written is read: keys, elements, values") {
  const json value = json::parse(R"({"a": [1, 2.5, "x", true, null], "b": {"c": 7}})");
  CHECK(value["a"].size() == 5);
  CHECK(value["a"][1].get<double>() == 2.5);
  CHECK(value["a"][2] == "x");
  CHECK(value["a"][3] == true);
  CHECK(value["a"][4].is_null());
  CHECK(value.at("b").value("c", 0) == 7);
  CHECK(value.at("b").value("d", 8) == 8);
  CHECK(value.at("b").value("d", "none") == "none");
  CHECK(!value.contains("c"));
  CHECK(value.items()[1].key == "b");
  const std::vector<int> numbers = json{1, 2}.get<std::vector<int>>();
  CHECK(numbers == std::vector<int>{1, 2});
  CHECK(json::parse(value.dump(1)) == value);
}

TEST_CASE("what is missing or of another kind is reported") {
  const json value = {{"a", "text"}};
  CHECK_THROWS_WITH_AS(value.at("b"), "there is no \"b\"", stepwise::json_error);
  CHECK_THROWS_WITH_AS(value.at("a").get<int>(), "expected a number, found a text",
                       stepwise::json_error);
  CHECK_THROWS_WITH_AS((json{1, 2}[2]), "there is no element 2 in an array of 2",
                       stepwise::json_error);
  CHECK_THROWS_AS(json::parse("{\"a\": "), stepwise::json_error);
  CHECK(json::parse_or_null("{\"a\": ").is_null());
  CHECK_THROWS_AS(json(1e300).get<int>(), stepwise::json_error);
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  CHECK_THROWS_WITH_AS(json::parse(deep), "nested too deeply", stepwise::json_error);
  CHECK(json::parse_or_null(deep).is_null());
  CHECK(!json::parse_or_null("").is_object());
}

TEST_CASE("objects grow, take over others' keys, and lose some") {
  json value;
  value["a"] = 1;
  value["b"]["c"] = 2;
  value["list"].push_back("x");
  value.update({{"a", 3}, {"d", 4}});
  value.erase("b");
  value.erase("none");
  CHECK(value.dump() == R"({"a":3,"list":["x"],"d":4})");
}

TEST_CASE("what is not UTF-8 is replaced, not refused") {
  CHECK(json("a\xff").dump() == "\"a\xef\xbf\xbd\"");
}
