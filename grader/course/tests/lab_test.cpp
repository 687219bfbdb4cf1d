// Reading build/course.json, and finding steps and labs by name.
#include "grader/course/lab.hpp"

#include <doctest/doctest.h>

#include <tuple>

#include "grader/course/tests/some_course.hpp"
#include "grader/system/failure.hpp"

using namespace stepwise;

namespace {

std::string refusal_of(const json& course) {
  const course_folder folder(course);
  try {
    load_labs(folder.build());
  } catch (const failure& error) {
    CHECK(error.code() == exit_code::ours);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a lab has the values of course.json") {
  const course_folder folder;
  const lab l = load_lab(folder.build(), "twice");
  CHECK(l.title == "Doubling");
  CHECK(l.file == "labs/twice/twice.cu");
  CHECK(!l.tensor_cores);
  CHECK(l.published_steps_earn);
  CHECK(l.check == std::vector<lab_size>{{1}, {33}});
  CHECK(l.hidden.empty());
  CHECK(l.ragged == std::vector<lab_size>{{3}, {99}});
  REQUIRE(l.goals.size() == 3);
  CHECK(l.points() == 100);
  CHECK(l.has(goal::kind::counter));
  CHECK(!l.has(goal::kind::checks));
  CHECK(l.goals[0].hint == "R");
  CHECK(l.goals[1].counter == find_goal_counter("kernel_launches"));
  CHECK(l.goals[1].side == bound::at_most);
  CHECK(l.goals[1].size == lab_size{4});
  CHECK(name_of(l.goals[2].what) == "reach");
  CHECK(l.goals[2].over == "01_next");
  CHECK(l.goals[2].limit == 0.9);
  REQUIRE(l.steps.size() == 2);
  CHECK(!l.steps[0].at_least);
  CHECK(!l.steps[0].recording);
  CHECK(l.steps[1].at_least == 1.15);
  CHECK(l.steps[1].promised == std::vector<lab_size>{{8, 8}});
  CHECK(l.steps[1].recording == "launch=2");
  CHECK(!l.steps[0].in_case_study);
  CHECK(l.steps[1].in_case_study);
  CHECK(l.may_help("00_first"));
  CHECK(!l.may_help("01_next"));
  CHECK(&l.last_step() == &l.steps[0]);
  REQUIRE(l.baselines.size() == 1);
  CHECK(l.baselines[0].on_cpu);
  CHECK(l.parts.at(0).program() == "limit-01_next-memory");
  CHECK(l.mutants.at(0).verdict == "TIMEOUT");
  REQUIRE(l.lectures.size() == 1);
  CHECK(l.lectures[0].size_stated);
  CHECK(l.lectures[0].figures.at(0).with == std::vector<std::string>{"tile=16"});
  REQUIRE(l.sweeps.standard);
  CHECK(l.sweeps.standard->counter == find_goal_counter("occupancy_percent"));
  REQUIRE(l.sweeps.find("stride") != nullptr);
  CHECK(!l.sweeps.find("stride")->is_given);
  CHECK(l.sweeps.find("stride")->counter == nullptr);
  CHECK(l.sweeps.find("nothing") == nullptr);
  CHECK_THROWS_WITH(
      load_lab(folder.build(), "twise"),
      "there is no lab \"twise\"; did you mean \"twice\"?\n`./lab list` shows all labs");
}

TEST_CASE("labs are sorted by their order, names alphabetically; without the file there are none") {
  json course = some_course();
  json other = course["labs"][0];
  other["name"] = "another";
  course["labs"].push_back(other);
  const course_folder folder(course);
  CHECK(load_labs(folder.build()).at(0).name == "twice");
  CHECK(lab_names(folder.build()) == std::vector<std::string>{"another", "twice"});
  CHECK(lab_names(folder.root()).empty());
  CHECK_THROWS_AS(load_labs(folder.root()), failure);
}

TEST_CASE("errors in counters and sweep axes, which only the program knows, name their place") {
  json course = some_course();
  course["labs"][0]["goals"][1]["counter"] = "kernel_lunches";
  const std::string unknown = refusal_of(course);
  CHECK(
      unknown.starts_with("lab.toml:14: goal \"few\": unknown counter \"kernel_lunches\"; did you "
                          "mean \"kernel_launches\"?\nthe counters are\n  global_load_"));
  for (const auto& c : goal_counters()) CHECK(unknown.find(c.name) != std::string::npos);
  course = some_course();
  course["labs"][0]["experiments"][0]["counter"] = "kernel_launch";
  CHECK(refusal_of(course).starts_with("lab.toml:34: experiment: unknown counter"));
  course = some_course();
  course["labs"][0]["sweep"]["over"] = {"a"};
  CHECK(refusal_of(course).starts_with("lab.toml:30: --over a: = is missing"));
  course["labs"][0]["sweep"]["over"] = {"a=1", "a=2"};
  CHECK(refusal_of(course).starts_with("lab.toml:30: --over a occurs twice"));
  course["labs"][0].erase("title");
  CHECK(refusal_of(course).find("course.json is malformed: ") != std::string::npos);
}

TEST_CASE("steps are found by name, number or word, and the nearest name is suggested") {
  lab l;
  l.name = "t";
  l.steps = {{"00_pairs", "", {}, "x", ""}, {"01_strided", "00_pairs", {}, "y", ""}};
  CHECK(find_step(l, "01_strided").name == "01_strided");
  CHECK(find_step(l, "01").name == "01_strided");
  CHECK(find_step(l, "pairs").name == "00_pairs");
  try {
    find_step(l, "01_stridde");
    FAIL("found");
  } catch (const failure& error) {
    CHECK(error.code() == exit_code::usage);
    CHECK(std::string(error.what()).find("did you mean \"01_strided\"?") != std::string::npos);
  }
}

TEST_CASE("the path leaves out the case study, and each step is over the nearest step before it") {
  lab l;
  for (const auto& [name, over, in_case_study] : {std::tuple{"01_a", "", false},
                                                  {"02_b", "01_a", true},
                                                  {"03_c", "02_b", true},
                                                  {"04_d", "03_c", false},
                                                  {"05_e", "04_d", false}})
    l.steps.push_back({name, over, {}, "", "", {}, false, in_case_study});
  l.steps.push_back({"06_f", "01_a", {}, "", "", {}, false, true});
  l.did_not_help = {"06_f"};
  CHECK(l.last_step().name == "05_e");
  const lab path = path_of(l);
  CHECK(path.last_step().name == "05_e");
  REQUIRE(path.steps.size() == 3);
  CHECK(path.steps[1].name == "04_d");
  CHECK(path.steps[1].over == "01_a");
  CHECK(path.steps[2].over == "04_d");
}

TEST_CASE("`nearest` suggests the name that is likely meant, or nothing") {
  const std::vector<std::string> labs = {"matmul", "reduction", "transpose"};
  CHECK(nearest("reductoin", labs) == "reduction");
  CHECK(nearest("transp", labs) == "transpose");
  CHECK(nearest("wlak", {"run", "walk"}) == "walk");
  CHECK(nearest("blur", labs).empty());
  CHECK(nearest("x", {}).empty());
}
