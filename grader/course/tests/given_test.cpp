// Tests the files of a student copy that replace the worked steps.
#include "grader/course/given.hpp"

#include <doctest/doctest.h>

#include "grader/course/tests/some_course.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

json student_course() {
  json course = some_course();
  json& l = course["labs"][0];
  l["is_worked"] = false;
  for (json& s : l["steps"]) s["file"] = "labs/twice/given/" + s["name"].get<std::string>() + ".cu";
  return course;
}

const char* const worked_text = "// twice 00_first: x.\n//> todo: write it.\nint x;\n//<\n";

TEST_CASE("a student copy's lab has skeletons in place of worked steps, and the lab says so") {
  const course_folder copy(student_course());
  copy.write("labs/twice/given/00_first.cu", "// TODO: write it.\n");
  const lab l = load_lab(copy.build(), "twice");
  CHECK_FALSE(l.is_worked);
  CHECK(skeleton_text(copy.root(), l, l.steps[0]) == "// TODO: write it.\n");
  CHECK_FALSE(skeleton_text(copy.root(), l, l.steps[1]).has_value());
  CHECK_THROWS_WITH_AS(worked_step(l, "01"), doctest::Contains("this is a student copy"), failure);
  CHECK_THROWS_WITH_AS(worked_step(l, "07"), doctest::Contains("has no step"), failure);
  const char* const no_solutions =
      "`lab bench` needs the worked steps,\nbut this is a student copy";
  CHECK_THROWS_WITH_AS(need_solutions(l, "bench"), doctest::Contains(no_solutions), failure);
  CHECK_THROWS_WITH_AS(need_solutions(copy.root(), "bench"), doctest::Contains(no_solutions),
                       failure);
  CHECK(l.experiment_file("one") == "labs/twice/given/experiments/one.cu");
}

TEST_CASE("with the solutions, skeletons are derived, and nothing is refused") {
  const course_folder course;
  course.write("solutions/twice/00_first.cu", worked_text);
  const lab l = load_lab(course.build(), "twice");
  CHECK(l.is_worked);
  const auto skeleton = skeleton_text(course.root(), l, l.steps[0]);
  REQUIRE(skeleton.has_value());
  CHECK(skeleton->find("TODO: write it.") != std::string::npos);
  CHECK(skeleton->find("int x") == std::string::npos);
  CHECK(worked_step(l, "01").name == "01_next");
  need_solutions(l, "bench");
  need_solutions(course.root(), "bench");
}

TEST_CASE("given times belong to one GPU, size and seed, and are read as they were written") {
  const course_folder copy(student_course());
  const given_times written{"NVIDIA H200", {1024, 3}, 7, {{"00_first", 0.123456789012345}}};
  copy.write("labs/twice/given/times.json", text_of(written));
  const lab l = load_lab(copy.build(), "twice");
  const given_times read = load_given_times(copy.root(), l);
  CHECK(read.find("00_first", "NVIDIA H200", {1024, 3}, 7) == 0.123456789012345);
  CHECK_FALSE(read.find("00_first", "NVIDIA A100", {1024, 3}, 7));
  CHECK_FALSE(read.find("00_first", "NVIDIA H200", {1024, 4}, 7));
  CHECK_FALSE(read.find("00_first", "NVIDIA H200", {1024, 3}, 8));
  CHECK_FALSE(read.find("01_next", "NVIDIA H200", {1024, 3}, 7));
  copy.write("labs/twice/given/times.json", "{}");
  CHECK_THROWS_WITH_AS(load_given_times(copy.root(), l), doctest::Contains("malformed"), failure);
}

TEST_CASE("a copy names the labs that are not open yet, and the days on which they open") {
  const course_folder copy(student_course());
  const auto coming = coming_labs(copy.build());
  REQUIRE(coming.size() == 1);
  CHECK(coming[0] == std::pair<std::string, std::string>{"later", "2026-10-15"});
}

}  // namespace
}  // namespace stepwise
