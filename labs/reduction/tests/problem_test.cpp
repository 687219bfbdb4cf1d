// Tests of the reduction lab's inputs, comparison, and of what it says about wrong sums.
#include "common/lab/problem.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <stdexcept>

#include "labs/reduction/reduction.hpp"
#include "labs/tests/problem_tests.hpp"

namespace reduction_problem_test {

using namespace stepwise;

struct example {
  explicit example(std::int64_t n, std::uint64_t seed = 7)
      : lab(problem_under_test()), call(lab.make_call({n}, seed)), in(n) {
    std::memcpy(in.data(), call.buffers[0].data.data(), n * sizeof(std::uint32_t));
  }

  std::uint32_t sum_of(std::size_t first, std::size_t last) const {
    return std::accumulate(in.begin() + first, in.begin() + last, std::uint32_t{0});
  }
  std::uint32_t sum() const { return sum_of(0, in.size()); }

  // The message of check() about this result; "" if it is right.
  std::string verdict(std::uint32_t out) const {
    const auto bytes = std::as_bytes(std::span(&out, 1));
    return lab.check(call, std::span(&bytes, 1)).value_or("");
  }

  void says(std::uint32_t out, const std::string& phrase) const {
    const std::string text = verdict(out);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  const problem& lab;
  problem_call call;
  std::vector<std::uint32_t> in;
};

TEST_CASE("inputs are the same bytes wherever they are made, by one core or by several") {
  const problem& lab = problem_under_test();
  const auto hash = [&](std::int64_t n, std::uint64_t seed) {
    return hash_of(lab.make_call({n}, seed).buffers[0].data);
  };
  // Made one element after the other; the last two are large enough for several cores.
  CHECK(hash(1, 7) == 0x7ac68322c61b3fec);
  CHECK(hash(65537, 7) == 0x32b6257252e2a427);
  CHECK(hash(9000001, 7) == 0x894112f6487ac226);
  CHECK(hash(9000001, 1) == 0x3e04408f41714a73);
}

TEST_CASE("a call has the contract's buffers and scalars, and its size and seed decide its bytes") {
  const example a(1023), again(1023), other(1023, 8), longer(1024);
  REQUIRE(a.call.buffers.size() == 3);
  CHECK(a.call.label == "n = 1023, seed 7");
  CHECK(a.call.scalars == std::vector<std::int64_t>{1023});
  CHECK(a.call.buffers[0].role == runner::buffer_role::input);
  CHECK(a.call.buffers[0].bytes == 4 * 1023);
  CHECK(a.call.buffers[1].role == runner::buffer_role::output);
  CHECK(a.call.buffers[1].bytes == 4);
  CHECK(a.call.buffers[2].role == runner::buffer_role::scratch);
  CHECK(a.call.buffers[2].bytes == 4 * scratch_ints(1023));
  CHECK(a.in == again.in);
  CHECK(a.in != other.in);
  CHECK(a.in[0] != longer.in[0]);
}

TEST_CASE("sizes outside the contract are refused") {
  const problem& lab = problem_under_test();
  CHECK_THROWS_AS(lab.make_call({0}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.make_call({-1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.make_call({std::int64_t{1} << 31}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.make_call({1, 1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(lab.work({}), std::invalid_argument);
}

TEST_CASE("work is one read of every element and one write of the sum") {
  const problem_work work = problem_under_test().work({1000});
  CHECK(work.bytes == 4004);
  CHECK(work.operations == 999);
}

TEST_CASE("the right sum passes, every other number does not") {
  for (const int n : {1, 2, 31, 257, 1000003}) {
    const example e(n);
    CHECK(e.verdict(e.sum()) == "");
    for (int bit = 0; bit < 32; ++bit) CHECK(e.verdict(e.sum() ^ (1u << bit)) != "");
  }
}

TEST_CASE("a message says what was expected, found and where") {
  const example e(1023);
  const std::string expected = std::to_string(static_cast<std::int32_t>(e.sum()));
  const std::string found = std::to_string(static_cast<std::int32_t>(e.sum() + 12345));
  CHECK(e.verdict(e.sum() + 12345) ==
        "reduction: out = " + found + ", expected " + expected + " (n = 1023, seed 7)");
}

TEST_CASE("usual mistakes are recognised by the sum they leave") {
  const example e(1025);
  e.says(0xa5a5a5a5, "nothing was written to out");
  e.says(e.sum() + 0xa5a5a5a5, "do not add it to what is there");
  e.says(0, "the sum that is stored is 0");
  e.says(e.in[0], "in[0] alone");
  e.says(e.sum_of(0, 1024), "the last element is missing");
  e.says(e.sum_of(0, 1000), "the last 25 elements are missing");
  e.says(e.sum_of(1, 1025), "the first element is missing");
  e.says(2 * e.sum(), "2 times the sum");
  e.says(e.in[500], "in[500] alone");
  e.says(e.sum() - e.in[500], "in[500] is missing");
  e.says(e.sum() + e.in[500], "in[500] is added twice");
  std::uint32_t even = 0;
  for (std::size_t i = 0; i < e.in.size(); i += 2) even += e.in[i];
  e.says(even, "in[0] + in[2]");
  e.says(e.sum() - even, "in[1] + in[3]");

  const example large(1000003);
  large.says(large.sum_of(0, 256), "the first 256 elements only - are the sums of all blocks");
  large.says(large.sum_of(0, 524288), "n that is not a power of two");
}

TEST_CASE("an output of another size is no output") {
  const example e(8);
  CHECK(e.lab.check(e.call, {}).has_value());
}

}  // namespace reduction_problem_test
