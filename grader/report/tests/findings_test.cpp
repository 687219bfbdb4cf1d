// Tests how findings are read from a file that a student's process wrote.
#include "grader/report/findings.hpp"

#include <doctest/doctest.h>

#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

located_finding of_kind(finding_kind kind, const std::string& message) {
  located_finding found;
  found.what.kind = kind;
  found.what.message = message;
  return found;
}

located_finding race_at(int line) {
  located_finding found = of_kind(finding_kind::race, "two threads, one word");
  found.what.parties = {
      {"writes 4 bytes", "sum", {"/course/labs/sum.cu", line, "a[i]++;", ""}, true, {}, {}}};
  return found;
}

std::vector<located_finding> read_text(const std::string& text) {
  const temporary_folder folder(fs::temp_directory_path());
  write_atomically(folder.path() / "findings", text);
  return read_findings(folder.path() / "findings");
}

}  // namespace

TEST_CASE("findings are read, merged and sorted, errors first") {
  const auto leak = of_kind(finding_kind::leak, "100 bytes");
  const auto all = read_text(json_line(leak) + "\n" + json_line(race_at(3)) + "\n" +
                             json_line(race_at(3)) + "\n" + json_line(race_at(4)) + "\n");
  REQUIRE(all.size() == 3);
  CHECK(all[0].what.kind == finding_kind::race);
  CHECK(all[0].what.count == 2);
  CHECK(all[1].what.parties[0].at.line == 4);
  CHECK(all[2].what.kind == finding_kind::leak);
}

TEST_CASE("a failed launch comes before the memory that it left unwritten") {
  const auto failed = of_kind(finding_kind::unchecked_error, "the launch failed");
  const auto copy = of_kind(finding_kind::unwritten_copy, "a copy");
  std::vector<located_finding> all = {copy, failed};
  order_by_cause(all);
  CHECK(all[0].what.kind == finding_kind::unchecked_error);
  CHECK(worst_finding(all, "/course") == "unchecked error: the launch failed; and 1 more finding");
  CHECK(!has_errors(without_copies(all)));
  all = {copy, failed, race_at(3)};
  std::rotate(all.begin(), all.begin() + 2, all.end());
  order_by_cause(all);
  CHECK(all[0].what.kind == finding_kind::race);
  CHECK(all[2].what.kind == finding_kind::unchecked_error);
}

TEST_CASE("malformed lines are skipped") {
  CHECK(read_findings("/nowhere/findings").empty());
  const std::string whole = json_line(race_at(3));
  const auto all =
      read_text("rubbish\n{}\n" + whole.substr(0, 30) + "\n" + whole + "\n" + whole.substr(0, 50));
  REQUIRE(all.size() == 1);
  CHECK(all[0].what.count == 1);
}

TEST_CASE("text from a program cannot send commands to a terminal") {
  auto found = race_at(3);
  found.what.message = "\x1b[2Jgone";
  found.what.parties[0].at.text = "x\u202ey";
  const auto all = read_text(json_line(found) + "\n");
  const std::string text = findings_text(all, {}, "/course");
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\u202e") == std::string::npos);
  CHECK(text.find("gone") != std::string::npos);
}

TEST_CASE("one sentence describes the worst finding") {
  const auto leak = of_kind(finding_kind::leak, "100 bytes");
  CHECK(worst_finding({}, "/course").empty());
  CHECK(worst_finding({leak}, "/course") == "memory leak: 100 bytes");
  CHECK(!has_errors({leak}));
  CHECK(has_errors({leak, race_at(3)}));
  CHECK(worst_finding({leak, race_at(3)}, "/course") ==
        "race at labs/sum.cu:3: two threads, one word");
  CHECK(worst_finding({race_at(3), race_at(4), race_at(5)}, "/elsewhere") ==
        "race at /course/labs/sum.cu:3: two threads, one word; and 2 more findings");
  auto two_lines = race_at(3);
  two_lines.what.parties.push_back(two_lines.what.parties[0]);
  CHECK(worst_finding({two_lines}, "/course") == "race at labs/sum.cu:3: two threads, one word");
  two_lines.what.parties[1].at.line = 7;
  CHECK(worst_finding({two_lines}, "/course") ==
        "race at labs/sum.cu:3 and 7: two threads, one word");
  two_lines.what.parties[1].at.file = "/course/labs/other.cu";
  CHECK(worst_finding({two_lines}, "/course") == "race at labs/sum.cu:3: two threads, one word");
  auto advised = race_at(3);
  advised.what.advice = "Put a barrier between the two.";
  CHECK(worst_finding({advised, race_at(4)}, "/course") ==
        "race at labs/sum.cu:3: two threads, one word; and 1 more finding. Put a barrier between "
        "the two.");
}

TEST_CASE("the JSON document counts errors and warnings") {
  const auto j = findings_json({race_at(3), of_kind(finding_kind::unchecked_error, "not checked")});
  CHECK(j["errors"] == 1);
  CHECK(j["warnings"] == 1);
  CHECK(j["summary"] == "2 findings: 1 race, 1 unchecked error");
  CHECK(j["findings"][0]["parties"][0]["line"] == 3);
  CHECK(j["findings"][1]["warning"] == true);
}
