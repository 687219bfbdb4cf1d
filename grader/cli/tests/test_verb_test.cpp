// lab test shows failures when they happen and names them at the end, whatever their command lines.
#include <doctest/doctest.h>

#include "grader/cli/tests/cloned_course.hpp"

using namespace stepwise;

namespace {

json test_entry(const char* name, std::vector<std::string> command) {
  return {{"name", name},          {"suite", {"stepwise:unit"}}, {"cmd", std::move(command)},
          {"env", json::object()}, {"workdir", nullptr},         {"timeout", 10},
          {"priority", 0},         {"is_parallel", false}};
}

}  // namespace

TEST_CASE(
    "a failing test with an empty argument is reported, and the run goes on to its last line") {
  const cloned_course c;
  json tests = json::array();
  tests.push_back(test_entry("fails first", {"/bin/sh", "-c", "echo broken; exit 3", ""}));
  tests.push_back(test_entry("passes after it", {"/bin/true"}));
  fs::create_directories(c.root() / "build/meson-info");
  write_atomically(c.root() / "build/meson-info/intro-tests.json", tests.dump());
  const auto result = c.lab({"test"});
  INFO(result.out, result.err);
  CHECK(result.end.exit_code == 4);
  CHECK(has(result.out, "failed  fails first  exit code 3"));
  CHECK(has(result.out, "    broken\n"));
  CHECK(has(result.out, "alone: /bin/sh -c echo broken; exit 3 ''\n"));
  CHECK(has(result.out, "failed: fails first\n1 passed, 1 failed\n"));
}
