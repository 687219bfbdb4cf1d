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

child_result run_tests(const cloned_course& c, const json& tests) {
  fs::create_directories(c.root() / "build/meson-info");
  write_atomically(c.root() / "build/meson-info/intro-tests.json", tests.dump());
  return c.lab({"test"});
}

}  // namespace

TEST_CASE(
    "a failing test with an empty argument is reported, and the run goes on to its last line") {
  const cloned_course c;
  const auto result =
      run_tests(c, {test_entry("fails first", {"/bin/sh", "-c", "echo broken; exit 3", ""}),
                    test_entry("passes after it", {"/bin/true"})});
  INFO(result.out, result.err);
  CHECK(result.end.exit_code == 4);
  CHECK(has(result.out, "failed  fails first  exit code 3"));
  CHECK(has(result.out, "    broken\n"));
  CHECK(has(result.out, "alone: /bin/sh -c echo broken; exit 3 ''\n"));
  CHECK(has(result.out, "failed: fails first\n1 passed, 1 failed\n"));
}

TEST_CASE("tests that must be alone run one by one, beside one that waits") {
  const cloned_course c;
  const char* alone =
      "until [ -e began ]; do sleep 0.05; done\n"
      "mkdir busy && sleep 0.2 && rmdir busy";
  json waits = test_entry("waits", {"/bin/sh", "-c", "touch began; sleep 1"});
  waits["suite"].push_back("stepwise:waits");
  const auto result = run_tests(c, {test_entry("alone", {"/bin/sh", "-c", alone}),
                                    test_entry("alone, too", {"/bin/sh", "-c", alone}), waits});
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.out, "3 passed, 0 failed\n"));
}
