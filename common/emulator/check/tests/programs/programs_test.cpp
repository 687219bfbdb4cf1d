// Runs the faulty and the correct programs with all checks on. Each faulty program must be reported
// exactly as its comments say (due.hpp), and no correct program at all.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/emulator/check/tests/programs/checked_run.hpp"
#include "common/emulator/check/tests/programs/due.hpp"

namespace {

using namespace stepwise;
using namespace stepwise::check_tests;
namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  REQUIRE_MESSAGE(value != nullptr, "run this test through `meson test`");
  return value;
}

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The executables that contain each program. Some programs are built repeatedly, with different
// optimization.
std::multimap<std::string, std::string> built_programs() {
  std::multimap<std::string, std::string> found;
  std::istringstream groups(environment("STEPWISE_GROUPS"));
  for (std::string group; std::getline(groups, group, ':');)
    for (const std::string& name : lines_of("'" + group + "' --list")) found.emplace(name, group);
  return found;
}

// The problems of each program in a folder. Runs one program per core at a time.
std::vector<std::string> problems_in(const std::string& folder) {
  const auto built = built_programs();
  std::vector<fs::path> sources;
  for (const auto& entry :
       fs::recursive_directory_iterator(environment("STEPWISE_PROGRAMS") + "/" + folder))
    if (entry.path().extension() == ".cu") sources.push_back(entry.path());
  std::sort(sources.begin(), sources.end());
  REQUIRE(!sources.empty());
  std::vector<std::vector<std::string>> problems(sources.size());
  in_parallel(sources.size(), [&](std::size_t i) {
    const std::string name = sources[i].stem();
    const auto [first, last] = built.equal_range(name);
    if (first == last) {
      problems[i] = {"it is not built: meson.build does not name it"};
      return;
    }
    const auto due = due_findings(contents(sources[i]));
    if (due.empty() != (folder == "correct")) problems[i].push_back("it is in the wrong folder");
    for (auto group = first; group != last; ++group) {
      const auto result = run_checked("'" + group->second + "' " + name, 30);
      for (const auto& p : differences(due, result.findings, sources[i].filename()))
        problems[i].push_back(fs::path(group->second).filename().string() + ": " + p);
      if (result.exit_code != 0)
        problems[i].push_back("ended with " + std::to_string(result.exit_code));
    }
  });
  std::vector<std::string> all;
  for (std::size_t i = 0; i < sources.size(); ++i)
    for (const auto& p : problems[i]) all.push_back(sources[i].stem().string() + ": " + p);
  return all;
}

TEST_CASE("every faulty program is reported exactly as its comments say") {
  const auto problems = problems_in("faulty");
  for (const auto& p : problems) MESSAGE(p);
  CHECK(problems.empty());
}

TEST_CASE("no correct program is reported") {
  const auto problems = problems_in("correct");
  for (const auto& p : problems) MESSAGE(p);
  CHECK(problems.empty());
}

TEST_CASE("the advice fixes every occurrence and names the statement at fault") {
  const auto problems = problems_in("advice");
  for (const auto& p : problems) MESSAGE(p);
  CHECK(problems.empty());
}

// --- the comparison itself must be able to fail --------------------------------------------------

located_finding race_between(int first, int second) {
  located_finding found;
  found.what.kind = finding_kind::race;
  found.what.message = "race";
  found.what.parties.resize(2);
  found.what.parties[0] = {"writes 4 bytes", "k", {"folder/a.cu", first, "", ""}, true, {}, {}};
  found.what.parties[1] = {"reads 4 bytes", "k", {"folder/a.cu", second, "", ""}, true, {}, {}};
  found.what.object.what = finding_object::kind::shared_variable;
  found.what.object.name = "line";
  found.what.object.bytes = 128;
  found.what.count = 3;
  return found;
}

TEST_CASE("expected findings are compared by kind, lines, verbs and values") {
  const std::string source =
      "x = 1;  // finding: race writes object=line\n"
      "// finding: race reads\n"
      "y = x;\n";
  const auto due = due_findings(source);
  REQUIRE(due.size() == 1);
  CHECK(differences(due, {race_between(1, 3)}, "a.cu").empty());
  CHECK(differences(due, {}, "a.cu").size() == 1);
  CHECK(differences({}, {race_between(1, 3)}, "a.cu").size() == 1);
  CHECK(differences(due, {race_between(1, 2)}, "a.cu").size() == 2);
  CHECK(differences(due, {race_between(3, 1)}, "a.cu").size() == 2);
  CHECK(differences(due, {race_between(1, 3)}, "b.cu").size() == 2);
  CHECK(differences(due, {race_between(1, 3), race_between(1, 3)}, "a.cu").size() == 1);
  auto other = race_between(1, 3);
  other.what.object.name = "tile";
  CHECK(differences(due, {other}, "a.cu").size() == 2);
  CHECK(differences(due_findings(source + "// finding: count=3\n"), {race_between(1, 3)}, "a.cu")
            .empty());
  CHECK(differences(due_findings(source + "// finding: count=4\n"), {race_between(1, 3)}, "a.cu")
            .size() == 2);
}

TEST_CASE("comments: labels, places of the host, and mistakes in them") {
  const auto due = due_findings(
      "a;  // finding 1: race writes; 2: race reads\n"
      "b;  // finding 1: reads; 2: writes|copies\n"
      "c;  // finding 3: leak allocated bytes=8\n"
      "d;  // finding 4: bad_mask\n");
  REQUIRE(due.size() == 4);
  CHECK(due[0].parties.size() == 2);
  CHECK(due[1].parties[1].line == 2);
  CHECK(due[1].parties[1].verbs == "writes|copies");
  CHECK(due[2].parties.empty());
  CHECK(due[2].allocated == 3);
  CHECK(due[3].parties.size() == 1);
  CHECK_THROWS(due_findings("a;  // finding: writes\n"));
  CHECK_THROWS(due_findings("a;  // finding: race leak\n"));
  CHECK_THROWS(due_findings("a;  // finding: race Writes\n"));
}

}  // namespace
