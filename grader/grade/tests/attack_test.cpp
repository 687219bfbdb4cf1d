// Tests the first lines of attacks, when an attack counts as refused, and how leftovers are found.
#include "grader/grade/attack.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "grader/grade/leftovers.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

TEST_CASE("an attack's first line states the expected result") {
  const auto a = parse_attack(
      "// attack reduction: WRONG or CHECK, at most 0 points\n// adds\n// more\n\n// x\n");
  REQUIRE(a);
  CHECK(a->lab == "reduction");
  CHECK(!a->honest);
  CHECK(a->classes == std::vector<std::string>{"WRONG", "CHECK"});
  CHECK(a->points == 0);
  CHECK(a->what == "adds more");
  CHECK(parse_attack("// honest matmul: PASS, at least 60 points")->honest);
  for (const char* text : {"", "// attack reduction: wrong, at most 0 points",
                           "// attack reduction: WRONG, at least 0 points",
                           "// honest reduction: PASS, at most 9 points",
                           "// attack reduction: WRONG, at most 0 points, open", "int attack;"}) {
    CHECK(!parse_attack(text));
  }
}

TEST_CASE("an attack is refused if class and points are as expected and nothing is left over") {
  const attack due = *parse_attack("// attack reduction: WRONG, at most 0 points");
  CHECK(is_as_due(due, {"WRONG", 0, "", {}}));
  CHECK(!is_as_due(due, {"WRONG", 1, "", {}}));
  CHECK(!is_as_due(due, {"PASS", 0, "", {}}));
  CHECK(!is_as_due(due, {"WRONG", 0, "no document", {}}));
  CHECK(!is_as_due(due, {"WRONG", 0, "", {"process 7"}}));
  const attack honest = *parse_attack("// honest reduction: PASS, at least 40 points");
  CHECK(is_as_due(honest, {"PASS", 40, "", {}}));
  CHECK(!is_as_due(honest, {"PASS", 39, "", {}}));
}

TEST_CASE("new processes and files are found, but not those from before") {
  const temporary_folder folder(fs::temp_directory_path());
  write_atomically(folder.path() / "before", "");
  leftovers watch({folder.path()});
  CHECK(watch.find().empty());
  write_atomically(folder.path() / "after", "");
  const pid_t first = fork();
  if (first == 0) {
    if (fork() == 0) {  // a process in its own session, without a parent
      setsid();
      sleep(30);
    }
    _exit(0);
  }
  waitpid(first, nullptr, 0);
  const auto left = watch.find();
  REQUIRE(left.size() == 2);
  CHECK(left[0].starts_with("process "));
  CHECK(left[1] == folder.path() / "after");
  CHECK(watch.find().empty());  // reported once, and then killed
}
