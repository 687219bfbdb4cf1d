// Tests the quick selection of the attack suite, `selftest` with files of your own, copies of
// steps, and the report where a layer of the sandbox is missing. Runs the built program.
#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>

#include "common/testing/skip_case.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/sandbox/sandbox.hpp"

using namespace stepwise;

namespace {

bool is_open_to_attacks() {
  if (!find_protections().bubblewrap.empty()) return false;
  skip_case("no bubblewrap: attacks do not run on this machine");
  return true;
}

json selftest(const cloned_course& c, std::vector<std::string> words, int exit_code) {
  words.insert(words.begin(), {"dev", "selftest"});
  words.push_back("--json");
  const auto result = run_child(c.command(words), 600);
  CHECK(result.end.exit_code == exit_code);
  const json document = document_of(result);
  check_documented(document, "selftest");
  return document;
}

void show_failures(const json& document) {
  for (const auto& file : document.at("files")) {
    if (file.at("result") == "FAILED") MESSAGE(file.dump());
  }
}

json grade(const cloned_course& c, const fs::path& file) {
  return document_of(
      c.lab({"grade", "reduction", "--file", file.string(), "--device", "emulated", "--json"}));
}

std::string step_text(const cloned_course& c, const char* name) {
  return *read_if_there(c.root() / "solutions/reduction" / (std::string(name) + ".cu"));
}

}  // namespace

TEST_CASE("one attack of each kind is refused, and leaves nothing behind") {
  if (is_open_to_attacks()) return;
  const cloned_course c;
  const json document = selftest(c, {"--quick"}, 0);
  show_failures(document);
  CHECK(document["failed"] == 0);
  CHECK(document["files"].size() >= 13);
  CHECK(document["sandbox"].size() == 5);
}

TEST_CASE("a submission's allocations stay within the memory that its grade may use") {
  if (is_open_to_attacks()) return;
  const cloned_course c;
  const fs::path attacks = c.root() / "grader" / "tests" / "attacks" / "resources";
  for (const char* name : {"72_memory.cu", "84_device_memory.cu"}) {
    CAPTURE(name);
    auto grading = c.command(
        {"grade", "reduction", "--file", attacks / name, "--device", "emulated", "--json"});
    grading.environment.push_back("STEPWISE_MEMORY=400:" + (c.root() / "shares").string());
    std::string ignored;
    grading.group = control_group::make({}, ignored);  // counts memory, without a limit
    const bool counted = grading.group != nullptr;
    const auto result = run_child(std::move(grading), 120);
    const json document = document_of(result);
    CHECK(document["class"] == "MEMORY");
    CHECK(document["points"] == 0);
    const std::string message = document["message"];
    CHECK(message.find("requested more memory than its limit (") != std::string::npos);
    if (counted) CHECK(result.end.peak_bytes < 450'000'000);
  }
}

TEST_CASE("selftest accepts a folder of your own, and reports wrong verdicts") {
  if (is_open_to_attacks()) return;
  const cloned_course c;
  const fs::path folder = c.root() / "mine";
  write_atomically(folder / "mine.cu",
                   "// honest reduction: SLOW, at least 99 points\n// too much is expected\n" +
                       step_text(c, "00_pairs"));
  const json document = selftest(c, {"--attacks", folder, "mine"}, 3);
  CHECK(document["files"].size() == 1);
  CHECK(document["failed"] == 1);
  CHECK(document.dump().find("too much is expected") != std::string::npos);
  write_atomically(folder / "other.cu", "int x;\n");
  CHECK(c.lab({"dev", "selftest", "--attacks", folder.string()}).end.exit_code == 2);
}

TEST_CASE("a renamed copy of a step is reported, and earns nothing if lab.toml says so") {
  const cloned_course c;
  std::string text = step_text(c, "00_pairs");
  for (auto at = text.find("reduce_kernel"); at != std::string::npos;
       at = text.find("reduce_kernel", at)) {
    text.replace(at, 13, "my_own");
  }
  const fs::path file = c.root() / "lab 1, final.cu";
  write_atomically(file, "// all mine\n\n" + text);
  const json with_remark = grade(c, file);
  REQUIRE(with_remark["remarks"].size() == 1);
  CHECK(with_remark["remarks"][0]["step"] == "00_pairs");
  CHECK(with_remark["points"] > 0);
  CHECK(has(c.lab({"grade", "reduction", "--file", file, "--device", "emulated"}).out,
            "this file is 00_pairs apart from names"));
  c.change_lab("reduction", [](json& entry) { entry["published_steps_earn"] = false; });
  const json refused = grade(c, file);
  CHECK(refused["class"] == "HELD");
  CHECK(refused["points"] == 0);
  for (const auto& goal : refused["goals"]) CHECK(goal["points"] == 0);
  // With one more line, the file is the student's own.
  write_atomically(file, text + "static int more;\n");
  const json own = grade(c, file);
  CHECK(own["remarks"].empty());
  CHECK(own["points"] == with_remark["points"]);
}

TEST_CASE("grading works without bubblewrap, and says what is missing") {
  const cloned_course c;
  write_atomically(c.root() / "a.cu", step_text(c, "00_pairs"));
  auto options = c.command({"grade", "reduction", "--file", "a.cu", "--device", "emulated"});
  std::string path;
  std::istringstream folders(std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    fs::path place = folder;
    if (fs::exists(place / "bwrap", error)) {  // links to all programs but bwrap
      place = c.root() / ("tools" + folder);
      fs::create_directories(place);
      for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename() != "bwrap")
          fs::create_symlink(entry.path(), place / entry.path().filename());
      }
    }
    path += (path.empty() ? "" : ":") + place.string();
  }
  options.environment.push_back("PATH=" + path);
  const auto shown = run_child(options, 120);
  CHECK(has(shown.out, "missing  namespaces: bubblewrap is not installed"));
  options.command.push_back("--json");
  const json document = document_of(run_child(options, 120));
  CHECK(document["points"] > 0);
  const json& namespaces = document["sandbox"][1];
  CHECK(namespaces["name"] == "namespaces");
  CHECK(namespaces["active"] == false);
  CHECK(has(namespaces["detail"], "the program can reach this machine's files"));
}
