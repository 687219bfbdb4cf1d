// Grades a small batch, stops it, resumes it and reports it. Runs in a copy of the clone, like
// cli_test.cpp; needs nvcc.
#include <doctest/doctest.h>
#include <signal.h>

#include <set>

#include "grader/cli/tests/cloned_course.hpp"

using namespace stepwise;

namespace {

// Hands in a correct file, a wrong file, a copy of the correct file, a file that does not compile,
// and a folder without a file to grade.
void hand_in(const cloned_course& c) {
  const fs::path in = c.root() / "in";
  const std::string right = *read_if_there(c.root() / "solutions/first/04_checked.cu");
  write_atomically(in / "anna" / "first.cu", right);
  write_atomically(in / "anna" / "answers.md", "### F1\n\nBecause.\n");
  write_atomically(in / "<bert>" / "first.cu", right);
  write_atomically(in / "carl" / "first.cu",
                   *read_if_there(c.root() / "labs/first/tests/mutants/writes_nothing.cu"));
  write_atomically(in / "dora.cu", "#include \"labs/first/first.hpp\"\nint no;int no;\n");
  write_atomically(in / "emil" / "notes.txt", "nothing");
}

child_result grade_all(const cloned_course& c, std::vector<std::string> more) {
  std::vector<std::string> words = {"grade-all", "--out", "results", "--i-trust-these-files"};
  words.insert(words.end(), more.begin(), more.end());
  return c.lab(words);
}

json entry_of(const cloned_course& c, const std::string& name) {
  return parse_json(
      read_if_there(c.root() / "results" / "journal" / (name + ".json")).value_or("null"));
}

std::size_t history(const cloned_course& c) {
  std::error_code none;
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& e : fs::directory_iterator(c.root() / "results/history", none))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("a batch is graded once, continues after a kill, and is graded again on request") {
  const cloned_course c;
  c.limit_calls("first");
  hand_in(c);
  const json first =
      document_of(grade_all(c, {"in", "first", "--json", "--due", "2026-11-20T00:00:00Z"}));
  check_documented(first);
  CHECK(first["submissions"] == 5);
  CHECK(first["graded"] == 4);
  const json anna = entry_of(c, "anna"), bert = entry_of(c, "%3Cbert%3E");
  check_documented(anna);
  CHECK(anna["class"] == entry_of(c, "%3Cbert%3E")["class"]);
  CHECK(anna["points"] > 0);
  CHECK(anna["late"].is_null());
  CHECK(anna["answered"]["answered"] == 1);
  CHECK(anna["grade"]["trust"] == "judged");
  CHECK(anna["grade"]["file"] == "first.cu");
  // Files with the same contents are graded once.
  CHECK(bert["graded_at"] == anna["graded_at"]);
  CHECK(bert["seconds"] == anna["seconds"]);
  CHECK(entry_of(c, "carl")["class"] == "WRONG");
  CHECK(entry_of(c, "dora")["class"] == "COMPILE");
  CHECK(has(entry_of(c, "dora")["message"], "dora.cu"));
  CHECK(!has(entry_of(c, "dora").dump(), "results/files"));
  CHECK(entry_of(c, "emil")["class"] == "REFUSED");
  CHECK(entry_of(c, "emil")["points"] == 0);

  // Nothing is left to do. An INFRA entry and a lost entry are graded again.
  CHECK(document_of(grade_all(c, {"--json"}))["graded"] == 0);
  json infra = entry_of(c, "carl");
  infra["class"] = "INFRA";
  infra["points"] = nullptr;
  write_atomically(c.root() / "results/journal/carl.json", infra.dump());
  fs::remove(c.root() / "results/journal/dora.json");
  const json second = document_of(grade_all(c, {"--json"}));
  CHECK(second["graded"] == 2);
  CHECK(second["classes"] == first["classes"]);
  CHECK(entry_of(c, "carl")["class"] == "WRONG");

  CHECK(history(c) == 1);
  CHECK(document_of(grade_all(c, {"--json", "--regrade", "COMPILE"}))["graded"] == 1);
  CHECK(history(c) == 2);
  CHECK(grade_all(c, {"--regrade", "no_student"}).end.exit_code == 2);
  CHECK(grade_all(c, {"in", "launch"}).end.exit_code == 2);
  CHECK(grade_all(c, {"--part", "3/2"}).end.exit_code == 2);

  // The parts together cover all submissions, and no contents twice.
  std::size_t all = 0;
  for (const char* part : {"1/3", "2/3", "3/3"})
    all += document_of(grade_all(c, {"--json", "--part", part}))["submissions"].get<std::size_t>();
  CHECK(all == 5);

  const auto report = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"report", "results"});
    return c.lab(words);
  };
  CHECK(has(report({"--format", "csv"}).out, "\"dora\""));
  CHECK(has(report({"--format", "junit"}).out, "name=\"&lt;bert&gt;\""));
  CHECK(parse_json(report({"--format", "gradescope", "--id", "anna"}).out)["score"] ==
        anna["points"]);
  CHECK(report({"--format", "gradescope"}).end.exit_code == 2);
  const json written = document_of(report({"--format", "gradescope", "--out", "each", "--json"}));
  check_documented(written);
  CHECK(written["files"].size() == 5);
  check_documented(document_of(report({"--explain", "carl", "--json"})));
  const auto again = report({"--explain", "carl", "--again"});
  CHECK(again.end.exit_code == 0);
  CHECK(has(again.out, "unchanged"));
  const auto page = report({"--format", "html", "--out", "page.html"});
  CHECK(page.end.exit_code == 0);
  CHECK(has(read_if_there(c.root() / "page.html").value_or(""), "&lt;bert&gt;"));
  CHECK(report({"--format", "csv", "--id", "ana"}).end.exit_code == 2);
  CHECK(report({"--format", "xml"}).end.exit_code == 2);
}

TEST_CASE("a killed batch loses nothing, and a second batch at the same time is refused") {
  const cloned_course c;
  c.limit_calls("first");
  hand_in(c);
  auto words = c.command(
      {"grade-all", "in", "first", "--out", "results", "--jobs", "1", "--i-trust-these-files"});
  {
    child batch(words);
    while (entry_of(c, "emil").is_null()) batch.wait(0.02);
    CHECK(grade_all(c, {}).end.exit_code == 3);
    kill(batch.id(), SIGKILL);
    batch.wait(10);
  }
  const json rest = document_of(grade_all(c, {"--json"}));
  CHECK(rest["submissions"] == 5);
  CHECK(rest["classes"].size() == 4);
  CHECK(history(c) == 0);
  for (const auto& e : fs::directory_iterator(c.root() / "results" / "journal"))
    CHECK(e.path().filename().string()[0] != '.');
}
