// Tests what a student sees first after a beginner's mistake. The first sentence of lab run, lab
// check and lab grade must be the one in labs/<lab>/tests/beginners.txt, or, for old versions that
// fail today, in solutions/<lab>/historic.txt. The correct files, of which the mistakes are edits,
// pass. People judged whether each sentence leads to the fix. Judge a sentence again when it
// changes.
//
// idea    The mistakes of a lab are one program (join_variants), which nvcc compiles in the time of
//         two. Mistakes that do not compile are compiled like a student's file.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "common/emulator/check/tests/programs/checked_run.hpp"
#include "common/report/finding_text.hpp"
#include "grader/course/lab.hpp"
#include "grader/grade/grade.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/installation.hpp"
#include "grader/report/findings.hpp"
#include "labs/tests/problem_of.hpp"

namespace {

using namespace stepwise;
namespace fs = std::filesystem;

// The first sentence of each command.
struct first_words {
  std::string run, check, grade;
  bool operator==(const first_words&) const = default;
};

struct mistake {
  std::string name;
  bool compiles = true, is_correct = false;
  first_words due;
};

std::vector<mistake> mistakes_of(const fs::path& list) {
  std::ifstream in(list);
  std::vector<mistake> mistakes;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, rest;
    if (!(words >> first) || first[0] == '#') continue;
    std::getline(words >> std::ws, rest);
    if (first[0] == '[') {
      mistakes.push_back({first.substr(1, first.size() - 2), true, true, {"PASS", "PASS", ""}});
      continue;
    }
    if (line[0] != ' ') {
      const bool compiles = first != "!";
      mistakes.push_back({compiles ? first : rest, compiles, false, {}});
      continue;
    }
    REQUIRE(!mistakes.empty());
    first_words& due = mistakes.back().due;
    if (first == "all") due = {rest, rest, rest};
    if (first == "run") due.run = rest;
    if (first == "check") due.check = rest;
    if (first == "grade") due.grade = rest;
  }
  return mistakes;
}

// The sentences as lines of beginners.txt.
std::string as_listed(const first_words& said) {
  if (said.run == said.check && said.run == said.grade) return "\n  all    " + said.run;
  return "\n  run    " + said.run + "\n  check  " + said.check + "\n  grade  " + said.grade;
}

// The text as if the mistake were the only one in its file: without its namespace, without folders,
// and without addresses, which differ.
std::string alone(const std::string& text, const std::string& name, const fs::path& root) {
  std::string one_line = text.substr(0, text.find('\n'));
  // The name of the course's folder may have spaces.
  const std::string folder = root.string() + "/";
  for (auto at = one_line.find(folder); at != std::string::npos; at = one_line.find(folder))
    one_line.erase(at, folder.size());
  const std::string plain = std::regex_replace(one_line, std::regex("variant_" + name + "::"), "");
  const std::string here = std::regex_replace(plain, std::regex("[^ ]*/(" + name + "\\.cu)"), "$1");
  return std::regex_replace(here, std::regex("0x[0-9a-f]{12}"), "0x...");
}

std::string of_finding(const located_finding& found) {
  const finding& f = found.what;
  const std::string text = std::string(title_of(f.kind)) + ": " + f.message;
  return f.advice.empty() ? text : text + " - " + f.advice;
}

std::string classified(verdict what, const std::string& message) {
  const std::string name(name_of(what));
  return message.empty() ? name : name + " " + message;
}

// The report of lab check, or null. A grade begins with the same checks of the same calls. If a
// call failed, the grade ends with their report. If they found an error in right results, the grade
// only adds calls that are too large for the checks.
const check_report* checked_by(const grade_report& grade, const std::vector<lab_size>& small) {
  const check_report& report = *grade.correctness;
  const bool failed = report.size && std::ranges::count(small, *report.size) > 0;
  const bool found = report.correct() && !report.findings.empty() && report.large.empty();
  return failed || found ? &report : nullptr;
}

first_words words_of(const lab& l, const fs::path& program, const mistake& m,
                     const installation& where, const device_choice& device) {
  const problem& p = problem_of(l);
  const std::string& name = m.name;
  const auto small = small_sizes(l, p);
  const auto run = check_program(l, p, program, device, l.check, 1, {});
  first_words said = {alone(classified(run.found.what, run.found.message), name, where.root), "",
                      ""};
  grade_report grade;
  const check_report* checked = nullptr;
  if (!m.is_correct) {  // the grade of a correct file would be about speed
    grade = grade_program(l, p, name, program, {}, where, device, 1, {});
    said.grade = alone(classified(grade.what, grade.message), name, where.root);
    checked = checked_by(grade, small);
  }
  check_report own;
  if (checked == nullptr) {
    own = check_thoroughly(l, p, program, device, small, 1, {});
    checked = &own;
  }
  const bool result_first = checked->findings.empty() || (checked->found.what == verdict::wrong &&
                                                          !has_errors(deciding_findings(*checked)));
  said.check = alone(result_first ? classified(checked->found.what, checked->found.message)
                                  : of_finding(checked->findings.front()),
                     name, where.root);
  return said;
}

first_words words_of_compiler(const lab& l, const fs::path& file, const installation& where) {
  const auto made = compile_submission(l, file, where, {[](const std::string&) {}, [] {}});
  const std::string text =
      made.explanation.empty() ? "it compiles" : "COMPILE " + made.explanation.at(0);
  const std::string said = alone(text, file.stem(), where.root);
  return {said, said, said};
}

TEST_CASE("the first sentence after a beginner's mistake is the one that people judged") {
  const char* const build = std::getenv("STEPWISE_BUILD");
  REQUIRE_MESSAGE(build != nullptr, "run this test through `meson test`");
  const installation where = load_installation(build);
  const device_choice device = choose_device(device_request::emulated, where);
  for (lab l : load_labs(where.build)) {
    const fs::path folder = where.root / "labs" / l.name / "tests";
    if (!fs::exists(folder / "beginners.txt")) continue;
    auto mistakes = mistakes_of(folder / "beginners.txt");
    CHECK(mistakes.size() >= 12);
    const fs::path historic = where.root / "solutions" / l.name / "historic.txt";
    if (fs::exists(historic))
      for (const mistake& old : mistakes_of(historic)) {
        CHECK_MESSAGE(old.due.check.starts_with("race: "), old.name, " no longer fails");
        mistakes.push_back(old);
      }
    const fs::path program = where.build / "labs" / "tests" / (l.name + "-mistakes");
    const fs::path files = program.string() + ".files";
    for (const mistake& m : mistakes) {
      // One second is enough to see that a loop is endless.
      l.time_limit_s = m.due.run.starts_with("TIMEOUT") ? 1 : 3;
      setenv("STEPWISE_VARIANT", m.name.c_str(), 1);
      const first_words said = m.compiles ? words_of(l, program, m, where, device)
                                          : words_of_compiler(l, files / (m.name + ".cu"), where);
      const bool as_due = said == m.due;
      const std::string title = (m.compiles ? "" : "! ") + m.name;
      INFO(title, as_listed(said));
      CHECK(as_due);
    }
  }
}

}  // namespace
