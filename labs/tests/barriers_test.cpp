// Tests that every barrier of every step is needed, and that the checks say so: without it, a race
// is reported; with it, nothing is.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "common/emulator/check/tests/programs/checked_run.hpp"
#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/installation.hpp"

namespace {

using namespace stepwise;
using namespace stepwise::check_tests;
namespace fs = std::filesystem;

constexpr double small_bytes = 100000;  // calls that move less show every barrier's purpose

// A lab, and a file with a call of each of its check sizes up to some number of bytes.
class lab_calls {
 public:
  lab_calls(const lab& l, double most_bytes)
      : file_(fs::temp_directory_path() /
              ("stepwise-barriers-" + l.name + "-" + std::to_string(getpid()))) {
    const problem& p = problem_of(l);
    std::vector<planned_call> plans;
    for (const auto& size : l.check) {
      if (p.work(size).bytes > most_bytes) continue;
      plans.push_back({calls_.size()});
      calls_.push_back(p.make_call(size, 1));
    }
    REQUIRE(!calls_.empty());
    const call_file written(calls_, plans, file_);
  }
  ~lab_calls() { fs::remove(file_); }
  lab_calls(const lab_calls&) = delete;
  lab_calls& operator=(const lab_calls&) = delete;

  // A copy per run: several run at once, and a runner writes into its file.
  checked_run run(const std::string& program, const std::string& variant) const {
    const fs::path mine = file_.string() + "-" + variant;
    fs::copy_file(file_, mine, fs::copy_options::overwrite_existing);
    const auto result = run_checked(
        "STEPWISE_VARIANT='" + variant + "' '" + program + "' '" + mine.string() + "'", 60);
    fs::remove(mine);
    return result;
  }

 private:
  fs::path file_;
  std::vector<problem_call> calls_;
};

const char* build_folder() {
  const char* const build = std::getenv("STEPWISE_BUILD");
  REQUIRE_MESSAGE(build != nullptr, "run this test through `meson test`");
  return build;
}

TEST_CASE("with its barriers, no step is reported, at any size") {
  const installation where = load_installation(build_folder());
  for (const lab& l : load_labs(where.root)) {
    const lab_calls all(l, 1e12);
    std::vector<checked_run> results(l.steps.size());
    in_parallel(results.size(), [&](std::size_t i) {
      results[i] = all.run(where.solution(l.name, l.steps[i].name), l.steps[i].name);
    });
    for (std::size_t i = 0; i < results.size(); ++i) {
      CAPTURE(l.steps[i].name);
      CHECK(results[i].exit_code == 0);
      for (const auto& found : results[i].findings) FAIL_CHECK(in_words(found));
    }
  }
}

// Both parties of a race are in the step's file, at lines with code.
bool is_race_in(const located_finding& found, const std::string& file) {
  return found.what.kind == finding_kind::race && found.what.parties.size() == 2 &&
         std::all_of(found.what.parties.begin(), found.what.parties.end(), [&](const auto& p) {
           return fs::path(p.at.file).filename() == file && p.at.line > 0 && !p.at.text.empty();
         });
}

TEST_CASE("without any one of its barriers, a step has a race, and nothing but what comes of it") {
  const installation where = load_installation(build_folder());
  for (const lab& l : load_labs(where.root)) {
    const std::string program = where.build / "labs/tests" / (l.name + "-without-barriers");
    const auto variants = lines_of("STEPWISE_VARIANT=list '" + program + "'");
    REQUIRE(!variants.empty());
    const lab_calls small(l, small_bytes);
    std::vector<checked_run> results(variants.size());
    in_parallel(results.size(),
                [&](std::size_t i) { results[i] = small.run(program, variants[i]); });
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string step = variants[i].substr(0, variants[i].find(':'));
      CAPTURE(variants[i]);
      bool has_race = false;
      for (const auto& found : results[i].findings) {
        MESSAGE(in_words(found));
        has_race = has_race || is_race_in(found, step + ".cu");
        // Without a barrier, a read may also come before anything was written.
        CHECK((found.what.kind == finding_kind::race ||
               found.what.kind == finding_kind::unwritten_read));
      }
      CHECK(has_race);
    }
  }
}

}  // namespace
