// Tests how far a sampled call is from the whole call: figures of kernels, errors, and the worst
// error.
#include "grader/model/sampling.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

namespace {

kernel_profile sampled_kernel(double counted, double instructions, std::uint64_t sectors) {
  kernel_profile k;
  k.timing.us = 10;
  k.timing.counted = counted;
  k.timing.instructions = instructions;
  k.total.global_load.sectors = sectors;
  return k;
}

sampled_call call_with(const std::string& step, double sampled_ms, double whole_ms) {
  sampled_call call{step, {64}, {}, {}};
  call.sampled.of[0] = sampled_ms;
  call.whole.of[0] = whole_ms;
  return call;
}

}  // namespace

TEST_CASE("a call's figures: bytes are scaled up from the sample, and summed over kernels") {
  modelled_figures m;
  m.time_ms = 0.02;
  m.kernels = {sampled_kernel(0.25, 400, 10), sampled_kernel(1, 600, 5)};
  const figures_of_call f = figures_of(m);
  CHECK(f[call_figure::time] == doctest::Approx(0.02));
  CHECK(f[call_figure::instructions] == doctest::Approx(1000));
  CHECK(f[call_figure::global_bytes] == doctest::Approx(32 * (10 / 0.25 + 5)));
  CHECK(f[call_figure::shared_bytes] == 0);
  CHECK(f.counted == doctest::Approx((0.25 * 400 + 600) / 1000));
}

TEST_CASE("errors have a sign, their summary has none; a missing figure has no error") {
  const std::vector<sampled_call> calls = {call_with("00_a", 1.1, 1), call_with("01_b", 1.5, 2),
                                           call_with("02_c", 3, 3)};
  CHECK(*calls[1].error(call_figure::time) == doctest::Approx(-0.25));
  CHECK(!calls[1].error(call_figure::dram_bytes));
  const auto errors = sampling_errors(calls);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].median == doctest::Approx(0.1));
  CHECK(errors[0].worst == doctest::Approx(0.25));
  CHECK(errors[0].at->step == "01_b");
  const json j = sampling_json("doubling", "NVIDIA H200", calls);
  CHECK(j["sampling"].size() == 1);
  CHECK(j["calls"][1]["figures"][0]["error"] == doctest::Approx(-0.25));
  CHECK(j["calls"][1]["figures"][3]["error"].is_null());
  CHECK(sampling_errors({}).empty());
}
