// lab exec --profile: the guided analysis of any program, and the message if there can be no
// profile.
#include <doctest/doctest.h>

#include <sstream>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/report/text.hpp"

using namespace stepwise;

namespace {

// Removes the folder of the programs, whose name may contain any word.
std::string without_folder(std::string text) {
  const std::string folder = std::getenv("EXEC_PROGRAMS");
  for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder))
    text.erase(at, folder.size());
  return text;
}

// The report that a call with --report wrote.
json report_of(const std::vector<std::string>& words, int exit_code) {
  const temporary_folder folder(fs::temp_directory_path());
  const std::string file = folder.path() / "profile.json";
  std::vector<std::string> all = {"--profile", "--report", file};
  all.insert(all.end(), words.begin(), words.end());
  CHECK(exec_program(all).end.exit_code == exit_code);
  const json document = parse_json(*read_if_there(file));
  check_documented(document, "exec");
  return document;
}

}  // namespace

TEST_CASE("exec --profile: kernels by time, then the bottleneck of the first one, and its line") {
  const auto result = exec_program({"--profile", exec_build("with_lines"), "several"});
  CHECK(result.end.exit_code == 0);
  CHECK(result.out == "first 500\n");
  CHECK(has(result.err, "exec_with_lines: modelled, NVIDIA H200\n"));
  CHECK(has(result.err, "stride was launched in 2 configurations"));
  CHECK(has(result.err, "What limits stride"));
  CHECK(has(result.err, "words[at] += 1;"));
  CHECK(has(result.err, "Uncoalesced accesses"));
  CHECK(!has(result.err, "-lineinfo"));
  CHECK(!has(without_folder(result.err), "step"));
  std::istringstream shown(result.err);
  for (std::string line; std::getline(shown, line);) {
    CAPTURE(line);
    CHECK((display_width(line) <= 80 || has(line, "exec_with_lines")));
  }
}

TEST_CASE("exec --profile --report: the same as JSON, with the launches of a kernel grouped") {
  const json document = report_of({exec_build("with_lines"), "several"}, 0);
  CHECK(document["time_kind"] == "modelled");
  CHECK(document["modelled_as"] == "NVIDIA H200");
  CHECK(document["failed"] == nullptr);
  CHECK(document["kernels"].size() == 3);
  const json& launched = document["launched"];
  REQUIRE(launched.size() == 2);
  CHECK(launched[0]["kernel"] == "stride");
  CHECK(launched[0]["launches"] == 4);
  CHECK(launched[0]["configurations"] == 2);
  CHECK(launched[0]["average_ms"].get<double>() ==
        doctest::Approx(launched[0]["time_ms"].get<double>() / 4));
  CHECK(launched[0]["share"].get<double>() + launched[1]["share"].get<double>() ==
        doctest::Approx(1));
  CHECK(document["analysis"]["kernel"] == "stride");
  CHECK(document["analysis"]["grid"][0] == 256);
  CHECK(document["analysis"]["accesses"][0]["wasteful"] == true);
  CHECK(document["advice"]["next"] == nullptr);
}

TEST_CASE("exec --profile: without line tables there is a profile, which says what is missing") {
  const auto result = exec_program({"--profile", exec_build("shared"), "several"});
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.err, "stride was compiled without -lineinfo"));
  CHECK(has(result.err, "Uncoalesced accesses"));
  CHECK(!has(result.err, "line 0"));
  CHECK(!has(result.err, "line ?"));
}

TEST_CASE("exec --profile: without anything to profile it says why, and gives no figure") {
  const auto failed = exec_program({"--profile", exec_build("with_lines"), "fail"});
  CHECK(failed.end.exit_code == 6);
  CHECK(has(failed.err, "no times, because a kernel failed"));
  CHECK(has(failed.err, "write_far at exec_program.cu:"));
  CHECK(!has(failed.err, "modelled"));
  const json document = report_of({exec_build("with_lines"), "fail"}, 6);
  CHECK(document["time_ms"] == nullptr);
  CHECK(document["time_kind"] == "none");
  CHECK(has(document["failed"], "write_far"));
  CHECK(!document.contains("analysis"));

  const auto none = exec_program({"--profile", exec_build("host_only_cu")});
  CHECK(none.end.exit_code == 1);
  CHECK(has(none.err, "launched no kernel"));
  CHECK(!has(none.err, "modelled"));
  CHECK(report_of({exec_build("host_only_cu")}, 1)["time_ms"] == nullptr);
  CHECK(exec_program({"--profile", exec_build("with_lines"), "exit", "7"}).end.exit_code == 7);

  const auto killed = exec_program({"--profile", exec_build("with_lines"), "after", "abort"});
  CHECK(killed.end.exit_code == 128 + 6);
  CHECK(has(killed.err, "did not end with exit()"));
}

TEST_CASE("exec --profile works with --check and --counters, and models the GPU asked for") {
  const auto both = exec_program({"--profile", "--check", "--counters", exec_build("with_lines")});
  CHECK(both.end.exit_code == 1);
  CHECK(has(both.err, "memory leak"));
  CHECK(has(both.err, "What limits add"));
  CHECK(has(both.err, "grid 1, block 32"));
  const auto other =
      exec_program({"--profile", "--gpu", "h100", exec_build("with_lines"), "several"});
  CHECK(has(other.err, "modelled, NVIDIA H100 80GB HBM3"));
}
