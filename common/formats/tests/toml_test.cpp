// TOML values, and the lines on which they begin.
#include "common/formats/toml.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

TEST_CASE("a file is a table whose values know their lines") {
  const toml_value file = parse_toml(
      "name = \"a\"\n"
      "n = 3\n"
      "x = 2.5\n"
      "yes = true\n"
      "list = [1, [2]]\n"
      "\n"
      "[sub]\n"
      "key = 2.0\n"
      "[[more]]\n"
      "[[more]]\n");
  CHECK(file.as<std::string>("name") == "a");
  CHECK(file.as<std::int64_t>("n") == 3);
  CHECK(file.as<double>("n") == 3.0);
  CHECK(file.as<double>("x") == 2.5);
  CHECK(!file.as<std::int64_t>("x"));
  CHECK(file.as<bool>("yes") == true);
  CHECK(!file.as<std::string>("n"));
  CHECK(!file.as<std::string>("none"));
  CHECK(file.find("n")->line == 2);
  REQUIRE(file.array_at("list") != nullptr);
  CHECK(file.array_at("list")->items[1].is_array());
  CHECK(file.array_at("sub") == nullptr);
  REQUIRE(file.table_at("sub") != nullptr);
  CHECK(file.table_at("sub")->line == 7);
  CHECK(file.table_at("sub")->as<std::int64_t>("key") == 2);
  CHECK(file.array_at("more")->items.size() == 2);
  CHECK(file.keys == std::vector<std::string>{"list", "more", "n", "name", "sub", "x", "yes"});
}

TEST_CASE("malformed TOML is reported with its line") {
  try {
    parse_toml("a = 1\nb = = 2\n");
    FAIL("it was accepted");
  } catch (const toml_error& error) {
    CHECK(error.line == 2);
    CHECK(std::string(error.what()) != "");
  }
}
