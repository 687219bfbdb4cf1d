// Tests the comparison of a GPU, including the transfer, with a CPU, for figures worked out by
// hand.
#include "grader/measure/worth.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace stepwise;

namespace worth_test {
namespace {

// Round numbers: the GPU has 10 times the bandwidth and 20 times the arithmetic of the CPU. The
// link has a quarter of the bandwidth of the CPU's memory.
const processor_rates small_gpu{"gpu", 2000e9, 1000e9}, small_cpu{"cpu", 100e9, 100e9};
const link_rate link{"link", 25e9};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("little arithmetic: the transfer decides, and repeated calls on resident data help") {
  // A sum: 1 GB over the link and once through memory, with one operation per 4 bytes.
  const offload sum{1e9, 0.25e9, 1e9, 1};
  const worth once = weigh(sum, link, small_gpu, small_cpu);
  CHECK(once.transfer_ms == doctest::Approx(40));
  CHECK(once.kernel.ms == doctest::Approx(1));
  CHECK(!once.kernel.by_arithmetic);
  CHECK(once.cpu.ms == doctest::Approx(10));
  CHECK(!once.cpu.by_arithmetic);
  CHECK(once.transfer_over_kernel() == doctest::Approx(40));
  CHECK(once.speedup == doctest::Approx(10.0 / 41));
  // 40 + k <= 10 k for k from 4.44 on
  REQUIRE(once.break_even_calls);
  CHECK(*once.break_even_calls == 5);
  // F / 100e9 = 40e-3 + F / 2000e9 holds at 4.21 Gflop. At this point, the GPU takes 2.1 ms,
  // limited by arithmetic.
  REQUIRE(once.break_even_flops_per_byte);
  CHECK(*once.break_even_flops_per_byte == doctest::Approx(0.04 / (1 / 100e9 - 1 / 2000e9) / 1e9));
  const std::string said = verdict_on(once, sum);
  CHECK(has(said, "Not worth it in this form: 0.24x the speed of the CPU for one call"));
  CHECK(has(said, "the transfer takes 40.0x as long as one call of the kernel"));
  CHECK(has(said, "only if the data stays on the GPU for 5 calls or more"));

  offload again = sum;
  again.calls = 4;
  CHECK(weigh(again, link, small_gpu, small_cpu).speedup < 1);
  again.calls = 5;
  CHECK(weigh(again, link, small_gpu, small_cpu).speedup == doctest::Approx(50.0 / 45));
  CHECK(has(verdict_on(weigh(again, link, small_gpu, small_cpu), again), "Hardly worth it: 1.11x"));
  again.calls = 100;
  const worth often = weigh(again, link, small_gpu, small_cpu);
  CHECK(often.speedup == doctest::Approx(1000.0 / 140));
  CHECK(has(verdict_on(often, again), "Worth it: 7.14x the speed of the CPU for 100 calls"));
  // On the CPU, 10 ms of memory time are more than 1.4 ms.
  CHECK(*often.break_even_flops_per_byte == 0);
}

TEST_CASE("work that the CPU does in less time than a launch is not worth a GPU") {
  const offload little{4e3, 1e3, 4e3, 1};
  const worth w = weigh(little, link, small_gpu, small_cpu);
  CHECK(w.cpu.ms < 0.004);
  CHECK(has(verdict_on(w, little), "Not worth it: the CPU finishes in"));
}

TEST_CASE("much arithmetic: worth it for one call, and the break-even intensity does break even") {
  const offload product{1e9, 1000e9, 1e9, 1};
  const worth w = weigh(product, link, small_gpu, small_cpu);
  CHECK(w.kernel.ms == doctest::Approx(500));
  CHECK(w.kernel.by_arithmetic);
  CHECK(w.cpu.ms == doctest::Approx(10000));
  CHECK(w.speedup == doctest::Approx(10000.0 / 540));
  CHECK(*w.break_even_calls == 1);
  CHECK(has(verdict_on(w, product), "Worth it: 18.5x"));
  CHECK(has(verdict_on(w, product), "the transfer takes less time than one call"));
  for (const double memory : {0.0, 1e9, 3e9, 1e11}) {
    for (const double calls : {1.0, 3.0}) {
      CAPTURE(memory);
      CAPTURE(calls);
      offload at{1e9, 0, memory, calls};
      at.flops =
          *weigh({1e9, 1, memory, calls}, link, small_gpu, small_cpu).break_even_flops_per_byte *
          at.bytes;
      const double speedup =
          at.flops + at.memory_bytes > 0 ? weigh(at, link, small_gpu, small_cpu).speedup : 1;
      CHECK(speedup >= (at.flops > 0 ? 0.999 : 1));
      if (at.flops > 0) CHECK(speedup <= 1.001);
    }
  }
}

TEST_CASE("known times replace theoretical ones, and name their source") {
  const offload sum{1e9, 0.25e9, 1e9, 10};
  const worth w = weigh(sum, link, small_gpu, small_cpu, known_time{2, time_source::modelled},
                        known_time{30, time_source::recorded});
  CHECK(w.kernel.ms == 2);
  CHECK(std::string(name_of(w.kernel.from)) == "modelled");
  CHECK(w.cpu.ms == 30);
  CHECK(std::string(name_of(w.cpu.from)) == "recorded");
  CHECK(w.speedup == doctest::Approx(300.0 / 60));
  CHECK(*w.break_even_calls == 2);  // the transfer takes 40 ms, and each call saves 28 ms
  // The break-even intensity concerns other calls, so it is theoretical.
  CHECK(*w.break_even_flops_per_byte ==
        *weigh(sum, link, small_gpu, small_cpu).break_even_flops_per_byte);
  const worth slow = weigh(sum, link, small_gpu, small_cpu, known_time{20, time_source::recorded},
                           known_time{30, time_source::recorded});
  CHECK(has(verdict_on(slow, sum), "Hardly worth it: 1.25x the speed of the CPU for 10 calls"));
  CHECK(!has(verdict_on(slow, sum), "theoretical"));
  CHECK(!weigh(sum, link, small_gpu, small_cpu, known_time{11, time_source::modelled})
             .break_even_calls);
}

TEST_CASE("a GPU that is no faster than the CPU is never worth it") {
  const processor_rates slow{"slow", 50e9, 90e9};
  const offload problem{1e9, 1e9, 1e9, 1000};
  const worth w = weigh(problem, link, slow, small_cpu);
  CHECK(!w.break_even_calls);
  CHECK(!w.break_even_flops_per_byte);
  CHECK(has(verdict_on(w, problem), "Not worth it: the kernel alone"));
  // Without a transfer, one call decides, and there are no bytes to relate operations to.
  const worth made_there = weigh({0, 1e9, 0, 1}, link, small_gpu, small_cpu);
  CHECK(*made_there.break_even_calls == 1);
  CHECK(!made_there.break_even_flops_per_byte);
  CHECK(has(verdict_on(made_there, {0, 1e9, 0, 1}), "no data is transferred"));
}

TEST_CASE("theoretical rates equal those of the data sheets") {
  const auto h200 = find_gpu("h200");
  REQUIRE(h200.ok());
  const auto rates = theoretical_rates(*h200);
  REQUIRE(rates);
  CHECK(rates->flops_per_s == doctest::Approx(66.9e12).epsilon(0.001));
  CHECK(rates->bytes_per_s == doctest::Approx(4.814e12).epsilon(0.001));
  gpu unknown = *h200;
  unknown.compute_major = 42;
  CHECK(!theoretical_rates(unknown));
  unknown = *h200;
  unknown.memory_clock_khz = 0;
  CHECK(!theoretical_rates(unknown));
  CHECK(find_link("pcie5")->bytes_per_s == doctest::Approx(63.015e9).epsilon(0.001));
  CHECK(find_link("pcie4")->bytes_per_s == doctest::Approx(31.508e9).epsilon(0.001));
  CHECK(!find_link("pcie"));
  CHECK(known_links().size() == 4);
  CHECK(usual_cpu().flops_per_s == doctest::Approx(7.168e12));
  CHECK(usual_cpu().bytes_per_s == doctest::Approx(307.2e9));
}

TEST_CASE("quantities as users type them") {
  CHECK(parse_quantity("800M") == 800e6);
  CHECK(parse_quantity("1.5G") == 1.5e9);
  CHECK(parse_quantity("64KiB") == 65536);
  CHECK(parse_quantity("2Gi") == 2147483648.0);
  CHECK(parse_quantity("3kB") == 3000);
  CHECK(parse_quantity("4P") == 4e15);
  CHECK(parse_quantity("2e9") == 2e9);
  CHECK(parse_quantity("0") == 0);
  CHECK(parse_quantity("7B") == 7);
  for (const char* const bad : {"", "G", "-1", "-0", "1..2", "1 G", "1Q", "1GG", "1Gb", "1iB",
                                "0x10", "nan", "inf", "1e999", "1e308P", "1,5G", "1mi", "800M "}) {
    CAPTURE(bad);
    CHECK(!parse_quantity(bad));
  }
}

}  // namespace worth_test
