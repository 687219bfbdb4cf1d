// The tour of `lab walk` and the keys of `lab play`, on a terminal that script(1) provides, and
// their plain output without one.
#include "grader/cli/tour/tour.hpp"

#include <doctest/doctest.h>

#include "grader/cli/tests/cloned_course.hpp"

namespace stepwise {
namespace {

bool has_script() {
  const bool there = !on_path("script").empty();
  if (!there) MESSAGE("skipped: there is no script(1)");
  return there;
}

child_result on_a_terminal(const cloned_course& c, const std::string& typed,
                           const std::string& words) {
  auto options = c.command({});
  const std::string lab = options.command[0];
  write_atomically(c.root() / "typed", typed);
  options.command = {
      "sh", "-c",
      "script -qec \"stty cols 80 -echo; exec '" + lab + "' " + words + "\" /dev/null <typed"};
  options.environment.insert(options.environment.end(), {"TERM=xterm", "COLUMNS=80", "CI"});
  return run_child(options, 60);
}

TEST_CASE("a tour asks before it shows the answer, and goes to the step that the reader wants") {
  if (!has_script()) return;
  const cloned_course c;
  const auto result =
      on_a_terminal(c, "\n?\ng 99\ng 3\n2\nb\nq\n", "walk launch --device emulated");
  INFO(result.out);
  CHECK(result.end.exit_code == 0);
  const auto at = [&](std::string_view what) { return result.out.find(what); };
  CHECK(at("Enter: see what it does") < at("  correct"));
  // The diff is that of the third step, because the first step has none.
  CHECK(at("--- solutions") > at("  correct"));
  CHECK(has(result.out, "keys"));
  CHECK(has(result.out, "there is no step 99"));
  CHECK(has(result.out, "you predicted"));
  CHECK_FALSE(has(result.out, "rate (modelled"));  // the tour was left before the end
}

TEST_CASE("without a terminal, or with --plain, everything is printed at once") {
  const cloned_course c;
  const auto piped = c.lab({"walk", "first", "--device", "emulated"});
  CHECK(piped.end.exit_code == 0);
  CHECK_FALSE(has(piped.out, "Enter"));
  CHECK(has(piped.out, "rate (modelled"));
  if (!has_script()) return;
  const auto plain = on_a_terminal(c, "", "walk first --device emulated --plain");
  CHECK(has(plain.out, "rate (modelled"));
  CHECK_FALSE(has(plain.out, "Enter: "));
}

TEST_CASE("play: one frame per key, within the screen, even if keys arrive together") {
  if (!has_script()) return;
  const cloned_course c;
  const auto result =
      on_a_terminal(c, "g" + std::string(34, 'l') + "v\x1b[D\x1b[4~q", "play reduction 02");
  INFO(result.out);
  CHECK(result.end.exit_code == 0);
  CHECK(has(result.out, "instruction 35 of 166; warp 0 of block 0; reduce_kernel"));
  CHECK(has(result.out, "banks   2.2.2.2. 2.2.2.2. 2.2.2.2. 2.2.2.2."));
  CHECK(has(result.out, "%r24 =\r\n -18"));  // after v, and a step back
  CHECK(has(result.out, "instruction 166 of 166"));
}

TEST_CASE("a step's questions are those of the handout that name the step") {
  const auto found = cli::questions_about(
      "* **R6** (2 points) In `01_a`, how many\n  warps? And in `02_b`?\n* **R7** other\n\n"
      "text `02_b`\n",
      "02_b");
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "R6 (2 points) In 01_a, how many warps? And in 02_b?");
}

}  // namespace
}  // namespace stepwise
