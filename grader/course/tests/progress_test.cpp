#include "grader/course/progress.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "grader/system/files.hpp"

namespace stepwise {
namespace {

TEST_CASE("progress is remembered, and a later run keeps the results of a grade") {
  const temporary_folder clone(fs::temp_directory_path());
  const fs::path& root = clone.path();
  CHECK(load_progress(root).labs.empty());
  remember(root, root, "reduction", {"a", "grade", "SLOW", "now", "a", 45, 0, {"right", "clean"}});
  remember(root, root, "reduction", {"b", "run", "WRONG", "later", "", 0, 0, {}});
  remember(root, root, "reduction", {"c", "grade", "SLOW", "last", "c", 30, 0, {"right"}});
  const auto p = load_progress(root).labs.at("reduction");
  CHECK(p.text == "c");
  CHECK(p.points == 30);
  CHECK(p.best == 45);
  CHECK(p.met == std::vector<std::string>{"right"});
  remember(root, root, "reduction", {"d", "run", "WRONG", "later", "", 0, 0, {}});
  const auto q = load_progress(root).labs.at("reduction");
  CHECK(q.verdict == "WRONG");
  CHECK(q.text_of_goals == "c");
  CHECK(q.points == 30);
}

TEST_CASE("concurrent commands lose none of each other's entries") {
  const temporary_folder clone(fs::temp_directory_path());
  std::vector<std::thread> commands;
  for (int i = 0; i < 8; ++i)
    commands.emplace_back([&, i] {
      remember(clone.path(), clone.path(), "lab" + std::to_string(i),
               {"a", "run", "PASS", "now", "", 0, 0, {}});
    });
  for (auto& command : commands) command.join();
  CHECK(load_progress(clone.path()).labs.size() == 8);
}

TEST_CASE("a malformed file, or a file of another version, is reported and kept") {
  for (const char* text : {"{\"labs\": ", "[]", "{\"version\": 2, \"labs\": {}}"}) {
    const temporary_folder clone(fs::temp_directory_path());
    const fs::path file = progress_file(clone.path());
    write_atomically(file, text);
    CHECK(load_progress(clone.path()).trouble.starts_with(".progress.json "));
    remember(clone.path(), clone.path(), "first", {"a", "run", "PASS", "now", "", 0, 0, {}});
    CHECK(load_progress(clone.path()).trouble.empty());
    CHECK(read_if_there(file.string() + ".kept-1") == text);
  }
}

TEST_CASE("if the file cannot be written, nothing is remembered") {
  remember("/proc/nowhere", "/proc/nowhere", "first", {"a", "run", "PASS", "now", "", 0, 0, {}});
  CHECK(load_progress("/proc/nowhere").labs.empty());
}

}  // namespace
}  // namespace stepwise
