// Tests the advice of lab exec --profile and --counters: which cause comes first for each kind of
// kernel.
#include <doctest/doctest.h>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/report/text.hpp"

using namespace stepwise;

namespace {

// The output, with its line breaks replaced by spaces.
std::string shown(const std::string& how, const std::string& kernel) {
  const child_result result = exec_program({how, exec_build("advice"), kernel});
  CHECK(result.end.exit_code == 0);
  return one_line(result.err);
}

std::string profile_of(const std::string& kernel) { return shown("--profile", kernel); }

// The text after the heading.
std::string advice_for(const std::string& kernel) {
  const std::string text = profile_of(kernel);
  const std::string heading = "4 What to try ";
  const auto at = text.find(heading);
  REQUIRE(at != text.npos);
  return text.substr(at + heading.size());
}

std::string what_stands_out(const std::string& kernel) {
  const std::string text = shown("--counters", kernel);
  const auto at = text.find("What stands out");
  return at == text.npos ? "" : text.substr(at);
}

}  // namespace

TEST_CASE("divergence is the first advice if it costs time, even if latency is the bottleneck") {
  for (const char* kernel : {"diverge", "leave"}) {
    CAPTURE(kernel);
    const std::string profile = profile_of(kernel), advice = advice_for(kernel);
    CHECK(has(profile, "Latency is the bottleneck"));
    CHECK(has(profile, " of 32 lanes are active"));
    CHECK(advice.starts_with("* Divergence: "));
    CHECK(has(advice.substr(0, advice.find(" * ", 2)), "the model predicts "));
    CHECK(has(what_stands_out(kernel), "branches diverge"));
  }
}

TEST_CASE("a bounds check at which one warp diverges is not reported") {
  CHECK(!has(profile_of("guarded"), "Divergence"));
  CHECK(has(shown("--counters", "guarded"), "1 of 3,128 branches diverge"));
  CHECK(what_stands_out("guarded").empty());
}

TEST_CASE("for an array in local memory, the advice is to index it by constants") {
  const std::string profile = profile_of("local"), advice = advice_for("local");
  CHECK(advice.starts_with("* Arrays in local memory: "));
  CHECK(has(advice, "counters of unrolled loops"));
  CHECK(has(advice.substr(0, advice.find(" * ", 2)), "the model predicts "));
  CHECK(!has(profile, "ncoalesced"));
  CHECK(!has(profile, "eighbouring"));
  CHECK(has(what_stands_out("local"), "local load: 32.0 sectors per request, 0 if"));
}

TEST_CASE("the advice is to combine atomics to one address, and to coalesce others") {
  const std::string one = profile_of("one_address");
  CHECK(has(one,
            "32.0 sectors per global atomic, 1.0 if lanes with the same address were combined "
            "first."));
  CHECK(!has(one, "ncoalesced"));
  CHECK(advice_for("one_address").starts_with("* Atomics to one address: "));
  CHECK(has(advice_for("one_address"), "__reduce_add_sync"));
  CHECK(has(what_stands_out("one_address"), "1.0 if lanes with the same address were combined"));
  CHECK(advice_for("own_addresses").starts_with("* Uncoalesced accesses: "));
  CHECK(has(what_stands_out("own_addresses"), "4.0 would be enough"));
}

TEST_CASE("if the machine code adds the values of a warp, the warp counts as one atomic") {
  CHECK(!has(profile_of("counter"), "if its lanes that have the same address"));
  CHECK(advice_for("counter").starts_with("* Atomics are busy"));
  const std::string counters = shown("--counters", "counter");
  CHECK(has(counters, "global atomic: 1.0 sectors per request"));
  CHECK(has(counters, "adds a warp's values first"));
}

TEST_CASE("spilled registers come first, even though the model ignores them") {
  CHECK(advice_for("spill").starts_with("* Spilled registers: "));
}

TEST_CASE("waiting for special functions has its own name") {
  const std::string profile = profile_of("special");
  CHECK(has(profile, "special functions"));
  CHECK(!has(profile, "shared dependency"));
  CHECK(!has(profile, "shared memory or shuffles"));
  CHECK(has(advice_for("special"), "* Waiting for special functions"));
}

TEST_CASE("resources that a launch's shape leaves idle come first") {
  const auto first_is = [](const char* kernel, const char* words) {
    const std::string advice = advice_for(kernel);
    CAPTURE(advice);
    CHECK(advice.starts_with(std::string("* ") + words));
  };
  first_is("one_thread", "One thread does all the work");
  CHECK(!has(advice_for("one_thread"), "smaller blocks"));
  first_is("one_lane", "Partly filled warps: ");
  first_is("half_warps", "Partly filled warps: ");
  first_is("one_block", "One block: ");
  CHECK(!has(advice_for("one_block"), "smaller blocks"));
  first_is("large_blocks", "A small grid: ");
  CHECK(has(advice_for("large_blocks"), "more and smaller blocks"));
  first_is("small_blocks", "Few blocks: ");
  CHECK(!has(advice_for("small_blocks"), "smaller blocks"));
}
