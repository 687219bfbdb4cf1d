// Goals as a student sees them, judged on the emulator: a goal of each kind is missed by the files
// that should miss it. Runs in a copy of the clone, like cli_test.cpp; needs nvcc.
#include <doctest/doctest.h>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/course/lab.hpp"

using namespace stepwise;

namespace {

json graded(const cloned_course& c, const std::string& lab, const std::string& what,
            const std::string& name) {
  const json grade =
      document_of(c.lab({"grade", lab, what, name, "--device", "emulated", "--json"}));
  check_documented(grade, "grade");
  return grade;
}

json graded_file(const cloned_course& c, const std::string& lab, const std::string& file) {
  return graded(c, lab, "--file", file);
}

json graded_step(const cloned_course& c, const std::string& lab, const std::string& step) {
  return graded(c, lab, "--step", step);
}

std::string step_file(const std::string& lab, const std::string& step) {
  return "solutions/" + lab + "/" + step + ".cu";
}

// The only goal about `counter`.
const json& goal_of(const json& grade, const std::string& counter) {
  for (const json& g : grade.at("goals"))
    if (g.contains("counted") && g["counted"]["counter"] == counter) return g;
  FAIL("no goal about ", counter);
  return grade;
}

const json& goal_of_kind(const json& grade, const std::string& kind) {
  for (const json& g : grade.at("goals"))
    if (g["kind"] == kind) return g;
  FAIL("no goal of kind ", kind);
  return grade;
}

// Writes a solution with `added` inserted after the line that contains `line`.
std::string with_line(const cloned_course& c, const std::string& solution, const std::string& line,
                      const std::string& added) {
  std::string text = *read_if_there(c.root() / solution);
  const auto at = text.find(line);
  REQUIRE(at != std::string::npos);
  text.insert(text.find('\n', at) + 1, added);
  write_atomically(c.root() / "mine.cu", text);
  return "mine.cu";
}

}  // namespace

TEST_CASE("bank conflicts miss their goal, and the message names the line; speed is modelled") {
  const cloned_course c;
  const std::string file = step_file("reduction", "02_strided");
  const json grade = graded_file(c, "reduction", file);
  CHECK(grade["class"] == "SLOW");
  CHECK(goal_of_kind(grade, "correct")["passed"] == true);
  CHECK(goal_of_kind(grade, "checks")["passed"] == true);
  const json& conflicts = goal_of(grade, "shared_wavefronts_over_ideal");
  CHECK(conflicts["passed"] == false);
  CHECK(conflicts["points"] == 0);
  CHECK(conflicts["counted"]["value"] > 3);
  CHECK(conflicts["counted"]["at_most"] == 1.05);
  CHECK(has(conflicts["counted"]["costliest"]["text"].get<std::string>(), "partial[left] +="));
  CHECK(has(conflicts["message"].get<std::string>(), "the goal is at most 1.05"));
  CHECK(goal_of(grade, "warp_execution_efficiency_percent")["passed"] == true);
  CHECK(goal_of(grade, "kernel_launches")["counted"]["value"] == 3);
  CHECK(goal_of_kind(grade, "speedup")["passed"] == true);  // over 01_interleaved
  CHECK(goal_of_kind(grade, "reach")["passed"] == false);
  const auto shown = c.lab({"grade", "reduction", "--file", file, "--device", "emulated"});
  CHECK(shown.end.exit_code == 1);
  CHECK(has(shown.out, "53 of 100 points"));
  CHECK(has(shown.out, "0 of   5  The sums of a block stay in shared memory"));
}

TEST_CASE("host code that reads device memory is reported first, by run, check and grade") {
  const cloned_course c;
  const std::string file = with_line(c, step_file("reduction", "07_grid_stride"),
                                     "void reduce(const int* in", "  if (in[0] == 7) return;\n");
  const std::string said = "the host reads device memory: byte 0 of in, an allocation of 4 bytes";
  const json grade = graded_file(c, "reduction", file);
  CHECK(grade["class"] == "CHECK");
  CHECK(has(grade["message"], "wrong pointer at mine.cu:"));
  CHECK(has(grade["message"], said));
  const json run =
      document_of(c.lab({"run", "reduction", "--file", file, "--device", "emulated", "--json"}));
  CHECK(run["class"] == "CRASH");
  CHECK(std::string(run["message"]).starts_with("reduce at "));
  CHECK(has(run["message"], said));
  const json check = document_of(c.lab({"check", "reduction", "--file", file, "--json"}));
  REQUIRE(check["findings"].size() == 1);
  CHECK(check["findings"][0]["kind"] == "wrong_pointer");
  CHECK(check["findings"][0]["host"]["text"] == "if (in[0] == 7) return;");
  CHECK(check["findings"][0]["object"]["name"] == "in");
}

TEST_CASE("every lab has 100 points and all kinds of goals; its last step meets them all") {
  const cloned_course c;
  std::size_t promises = 0;
  for (const lab& l : load_labs(c.root() / "build")) {
    CAPTURE(l.name);
    CHECK(l.points() == 100);
    for (const auto kind : {goal::kind::correct, goal::kind::checks, goal::kind::counter,
                            goal::kind::speedup, goal::kind::reach}) {
      CAPTURE(name_of(kind));
      // The kernels of a whole program are given, so there is nothing to count.
      CHECK((l.has(kind) || (l.is_program() && kind == goal::kind::counter)));
    }
    const json best = graded_step(c, l.name, l.last_step().name);
    CHECK(best["class"] == "PASS");
    CHECK(best["points"] == best["max_points"]);
    CHECK(best["max_points"] >= 50);
    // The first step is correct, but meets less than half of the counter goals.
    const json first = graded_step(c, l.name, l.steps.front().name);
    CHECK(first["class"] == "SLOW");
    CHECK(goal_of_kind(first, "checks")["passed"] == true);
    const auto met = std::count_if(first["goals"].begin(), first["goals"].end(), [](const json& g) {
      return g["kind"] == "counter" && g["passed"] == true;
    });
    const auto counted = std::count_if(first["goals"].begin(), first["goals"].end(),
                                       [](const json& g) { return g["kind"] == "counter"; });
    CHECK((2 * met < counted || l.is_program()));
    const std::string handout = *read_if_there(c.root() / l.handout());
    const std::string promise = "`./lab grade " + l.name + "` gives ";
    if (const auto at = handout.find(promise); at != std::string::npos) {
      ++promises;
      CHECK(first["points"] == std::stod(handout.substr(at + promise.size())));
    }
  }
  CHECK(promises > 0);
}

TEST_CASE("GOALS.md describes every counter") {
  const std::string text = *read_if_there(fs::path(std::getenv("LAB_ROOT")) / "grader/GOALS.md");
  for (const auto& counter : goal_counters()) {
    CAPTURE(counter.name);
    CHECK(has(text, "`" + std::string(counter.name) + "`"));
  }
}
