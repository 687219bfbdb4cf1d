// Replaces the file's name in the texts of a report, and removes the facts that a key withholds.
#include "grader/grade/withheld.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

TEST_CASE("every text of a report names the student's file") {
  grade_report report;
  report.message = "race at submission.cu:3, seed 99";
  report.goals.resize(2);
  report.goals[0].message = report.message;
  report.goals[1].counted.emplace().costliest = {"submission.cu", 4, "x", "f at submission.cu:9"};
  check_report& checked = report.correctness.emplace();
  checked.found.message = "x/submission.cu(3) says no";
  checked.label = "n = 4, seed 99";
  checked.right = {"n = 1, seed 99"};
  checked.printed = "/root/x/submission.cu:4";
  located_finding& found = checked.findings.emplace_back();
  found.what.parties.resize(1);
  found.what.parties[0].at.file = "submission.cu";
  found.host.file = "/root/x/submission.cu";
  replace_in(report, {{"/root/x/submission.cu", "/home/me/mine.cu"},
                      {"x/submission.cu", "mine.cu"},
                      {"submission.cu", "mine.cu"},
                      {"", "never"},
                      {"99", "5"}});
  CHECK(report.message == "race at mine.cu:3, seed 5");
  CHECK(report.goals[0].message == report.message);
  CHECK(report.goals[1].counted->costliest.file == "mine.cu");
  CHECK(report.goals[1].counted->costliest.inner == "f at mine.cu:9");
  CHECK(checked.found.message == "mine.cu(3) says no");
  CHECK(checked.label == "n = 4, seed 5");
  CHECK(checked.right.at(0) == "n = 1, seed 5");
  CHECK(checked.printed == "/home/me/mine.cu:4");
  CHECK(found.what.parties[0].at.file == "mine.cu");
  CHECK(found.host.file == "/home/me/mine.cu");
}

TEST_CASE("only the class and the size remain of a call at a hidden size") {
  grade_report report;
  report.message = "expected 3";
  report.goals.resize(1);
  report.goals[0].message = report.message;
  check_report& checked = report.correctness.emplace();
  checked.found = {verdict::wrong, report.message};
  checked.size = lab_size{37};
  checked.printed = "in[0] = 3";
  withhold_details(report, {{38}});
  CHECK(report.message == "expected 3");
  withhold_details(report, {{37}});
  CHECK(report.message.starts_with("WRONG at a hidden size: "));
  CHECK(report.goals[0].message == report.message);
  CHECK(checked.printed.empty());
}
