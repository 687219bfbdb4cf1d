// Tests that the checks show a student each of the five mistakes that the handout makes on purpose,
// at the lines that it is about. What is said first of all of them is in beginners.txt.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/judge/check.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/installation.hpp"

namespace first_mistakes_test {

using namespace stepwise;

// A line of the mistake's file, in a kernel or on the host; 0: none is asked for.
struct due {
  finding_kind kind;
  int kernel_line = 0, host_line = 0, allocated_line = 0;
};
struct mistake {
  const char* name;
  std::vector<due> findings;  // all of them
  bool is_right = false;      // the results are, by luck
};

const std::vector<mistake> mistakes = {
    {"wrong_index", {{finding_kind::out_of_bounds, 12, 24, 20}}},
    {"no_bounds_test",
     {{finding_kind::out_of_bounds, 11, 22, 18}, {finding_kind::out_of_bounds, 11, 22, 19}}},
    {"unchecked_launch",
     {{finding_kind::unchecked_error, 0, 16, 0}, {finding_kind::unwritten_copy, 0, 17, 14}}},
    {"lost_counts", {{finding_kind::race, 16, 32, 28}}, true},
    {"read_too_early", {{finding_kind::race, 12, 28, 23}}, true},
};

bool is_at(const located_finding& found, const due& wanted, const std::string& file) {
  const auto& parties = found.what.parties;
  const bool in_kernel =
      wanted.kernel_line == 0 || std::any_of(parties.begin(), parties.end(), [&](const auto& p) {
        return p.at.file == file && p.at.line == wanted.kernel_line;
      });
  const auto on_host = [&](const host_place& place, int line) {
    return line == 0 || (place.line == line && place.file.ends_with(file));
  };
  return found.what.kind == wanted.kind && in_kernel && on_host(found.host, wanted.host_line) &&
         on_host(found.allocated, wanted.allocated_line);
}

TEST_CASE("the checks show each of the handout's mistakes, at its lines") {
  const char* const build = std::getenv("STEPWISE_BUILD");
  REQUIRE_MESSAGE(build != nullptr, "run this test through `meson test`");
  const installation where = load_installation(build);
  const device_choice emulator = choose_device(device_request::emulated, where);
  const lab l = load_lab(where.build, "first");
  const fs::path program = where.build / "labs" / "tests" / "first-mistakes";
  for (const mistake& m : mistakes) {
    CAPTURE(m.name);
    setenv("STEPWISE_VARIANT", m.name, 1);
    const problem& p = problem_of(l);
    const auto report = check_thoroughly(l, p, program, emulator, small_sizes(l, p), 7, {});
    CHECK(report.correct() == m.is_right);
    REQUIRE(report.findings.size() == m.findings.size());
    for (std::size_t i = 0; i < m.findings.size(); ++i) {
      CAPTURE(report.findings[i].what.message);
      CAPTURE(report.findings[i].host.line);
      CHECK(is_at(report.findings[i], m.findings[i], std::string(m.name) + ".cu"));
    }
  }
}

}  // namespace first_mistakes_test
