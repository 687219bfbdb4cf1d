// The attacks' first lines, what counts as held, and what is found of what is left behind.
#include "grader/grade/attack.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "grader/grade/leftovers.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

TEST_CASE("an attack's first line says what is expected") {
  const auto a = parse_attack(
      "// attack reduction: WRONG or CHECK, at most 0 points\n// adds\n// more\n\n// x\n");
  REQUIRE(a);
  CHECK(a->lab == "reduction");
  CHECK(!a->honest);
  CHECK(a->classes == std::vector<std::string>{"WRONG", "CHECK"});
  CHECK(a->points == 0);
  CHECK(!a->until_judged);
  CHECK(a->what == "adds more");
  CHECK(parse_attack("// attack matmul: PASS, at most 60 points, until judged")->until_judged);
  CHECK(parse_attack("// attack matmul: PASS, at most 60 points, open")->is_open);
  CHECK(parse_attack("// honest matmul: PASS, at least 60 points")->honest);
  for (const char* text : {"", "// attack reduction: wrong, at most 0 points",
                           "// attack reduction: WRONG, at least 0 points",
                           "// honest reduction: PASS, at most 9 points", "int attack;"}) {
    CHECK(!parse_attack(text));
  }
}

TEST_CASE("an attack holds with a class and points that are expected, and nothing left behind") {
  attack due = *parse_attack("// attack reduction: WRONG, at most 0 points");
  CHECK(result_of(due, {"WRONG", 0, false, "", {}}) == attack_result::held);
  CHECK(result_of(due, {"WRONG", 1, false, "", {}}) == attack_result::failed);
  CHECK(result_of(due, {"PASS", 0, false, "", {}}) == attack_result::failed);
  CHECK(result_of(due, {"WRONG", 0, false, "no document", {}}) == attack_result::failed);
  CHECK(result_of(due, {"WRONG", 0, false, "", {"process 7"}}) == attack_result::failed);
  due.until_judged = true;
  CHECK(result_of(due, {"PASS", 100, false, "", {}}) == attack_result::open);
  CHECK(result_of(due, {"PASS", 100, true, "", {}}) == attack_result::failed);
  CHECK(result_of(due, {"PASS", 100, false, "", {"a file"}}) == attack_result::failed);
  CHECK(result_of(due, {"WRONG", 0, false, "", {}}) == attack_result::held);
  due.until_judged = false;
  due.is_open = true;
  CHECK(result_of(due, {"PASS", 100, true, "", {}}) == attack_result::open);
  CHECK(result_of(due, {"PASS", 100, true, "it reached what it must not", {}}) ==
        attack_result::failed);
  const attack honest = *parse_attack("// honest reduction: PASS, at least 40 points");
  CHECK(result_of(honest, {"PASS", 40, true, "", {}}) == attack_result::held);
  CHECK(result_of(honest, {"PASS", 39, true, "", {}}) == attack_result::failed);
}

TEST_CASE("processes and files that are left behind are found, and not those from before") {
  const temporary_folder folder(fs::temp_directory_path());
  write_atomically(folder.path() / "before", "");
  leftovers watch({folder.path()});
  CHECK(watch.find().empty());
  write_atomically(folder.path() / "after", "");
  const pid_t first = fork();
  if (first == 0) {
    if (fork() == 0) {  // in a session of its own, and without a parent
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
  CHECK(watch.find().empty());  // told once, and ended
}
