// Tests the scan lab's inputs, its comparison, and its messages about wrong results.
#include "common/lab/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "labs/tests/problem_tests.hpp"

namespace scan_problem_test {

using namespace stepwise;
using words = std::vector<std::uint32_t>;

constexpr std::uint32_t filling = 0xc3c3c3c3;

struct example {
  explicit example(std::int64_t n, std::uint64_t seed = 7)
      : lab(problem_under_test()), call(lab.make_call({n}, seed)), in(n) {
    const auto& data = call.buffers.at(0).data;
    std::memcpy(in.data(), data.data(), data.size());
  }

  words right() const {
    words sums(in.size());
    std::partial_sum(in.begin(), in.end(), sums.begin());
    return sums;
  }
  // The right result with some change made to each element from `first` on.
  template <class Change>
  words changed(std::size_t first, Change change) const {
    words out = right();
    for (std::size_t i = first; i < out.size(); ++i) out[i] = change(out[i], i);
    return out;
  }

  // The message of check() about this result, or "" if the result is right.
  std::string verdict(const words& out) const {
    const auto bytes = std::as_bytes(std::span(out));
    return lab.check(call, std::span(&bytes, 1)).value_or("");
  }

  void says(const words& out, const std::string& phrase) const {
    const std::string text = verdict(out);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  // What explain() says about a program that stores `program(in)`.
  template <class Program>
  std::string explained(Program program) const {
    const auto bytes_of = [&](const problem_call& c) {
      words input(in.size());
      std::memcpy(input.data(), c.buffers.at(0).data.data(), c.buffers.at(0).data.size());
      const words out = program(input);
      const auto bytes = std::as_bytes(std::span(out));
      return problem::results{{bytes.begin(), bytes.end()}};
    };
    return lab.explain(call, bytes_of(call), bytes_of);
  }

  const problem& lab;
  problem_call call;
  words in;
};

TEST_CASE("a call has the contract's buffers and scalars, and its size and seed decide its bytes") {
  const example a(1000), again(1000), other(1000, 8), longer(1001);
  REQUIRE(a.call.buffers.size() == 3);
  CHECK(a.call.label == "n = 1000, seed 7");
  CHECK(a.call.scalars == std::vector<std::int64_t>{1000});
  CHECK(a.call.buffers[0].role == runner::buffer_role::input);
  CHECK(a.call.buffers[0].bytes == 4000);
  CHECK(a.call.buffers[1].role == runner::buffer_role::output);
  CHECK(a.call.buffers[1].bytes == 4000);
  CHECK(a.call.buffers[2].role == runner::buffer_role::scratch);
  CHECK(a.call.buffers[2].bytes == (1000 / 64 + 1024) * 4);
  CHECK(a.in == again.in);
  CHECK(a.in != other.in);
  CHECK(!std::equal(a.in.begin(), a.in.end(), longer.in.begin()));
}

TEST_CASE("a large input is filled by all cores, with the bytes that one core would store") {
  const example large(5000001);
  const example same(5000001);
  CHECK(large.in == same.in);
  CHECK(large.verdict(large.right()).empty());
}

TEST_CASE("sizes from 1 to 2^31 - 1 are accepted, and the work counts each word once") {
  const example a(1);
  for (const problem::size& n : {problem::size{0}, {-1}, {std::int64_t{1} << 31}, {}, {1, 2}})
    CHECK_THROWS_AS((void)a.lab.work(n), std::invalid_argument);
  CHECK(a.lab.work({1000}).bytes == 8000);
  CHECK(a.lab.work({1000}).operations == 999);
  CHECK(a.lab.work({(std::int64_t{1} << 31) - 1}).bytes == 8.0 * ((std::int64_t{1} << 31) - 1));
}

TEST_CASE("the right result is right, and any other result is wrong") {
  for (const std::int64_t n : {1, 2, 33, 1000, 3000000}) {
    const example a(n);
    CHECK(a.verdict(a.right()).empty());
    for (const std::size_t i : {std::size_t{0}, a.in.size() / 2, a.in.size() - 1}) {
      words out = a.right();
      out[i] ^= 1;
      a.says(out, "scan: out[" + std::to_string(i) + "] = " + std::to_string(out[i]) +
                      ", expected in[0]");
    }
  }
  const example a(100);
  CHECK(!a.verdict(words(99)).empty());
}

TEST_CASE("unwritten elements are recognised") {
  const example a(1000);
  a.says(words(1000, filling), "nothing was written to out");
  a.says(a.changed(992, [](auto, auto) { return filling; }),
         "8 of 1000 elements are not written, all from out[992] on");
  words out = a.right();
  out[3] = out[7] = filling;
  a.says(out, "2 of 1000 elements are not written. The first is out[3], and the last is out[7]");
}

TEST_CASE("results that are another function of the input are recognised") {
  const example a(1000);
  words out = a.right();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] -= a.in[i];
  a.says(out, "these are exclusive sums");
  a.says(a.in, "out is a copy of in: does each thread add");
  a.says(words(1000, 0), "every sum is 0");
  a.says(words(1000, a.right().back()), "that is a reduction");
  words backwards(1000);
  std::partial_sum(a.in.rbegin(), a.in.rend(), backwards.rbegin());
  a.says(backwards, "do the sums run from the end");
  a.says(a.changed(0, [](auto sum, auto) { return sum & 0xffff; }), "low 16 bits");
  a.says(a.changed(0, [](auto sum, auto) { return sum & 0xff; }), "kept in a char");
  a.says(a.changed(0, [](auto sum, auto) { return 32 * sum; }), "32 times the right one");
  a.says(a.changed(0, [](auto sum, auto) { return sum + 1; }), "the right sum plus 1");
  a.says(a.changed(32, [](auto sum, auto) { return sum - 2; }), "the right sum minus 2");
  a.says(a.changed(0, [](auto sum, auto) { return sum + filling; }),
         "out[0] is in[0] plus 0xc3c3c3c3, which filled out and scratch");
}

TEST_CASE("a missing, a repeated and a misplaced part are named") {
  const example a(10000);
  const words right = a.right();
  const auto before = [&](std::size_t i) { return right[i - 1]; };
  a.says(a.changed(256, [&](auto sum, auto) { return sum - before(256); }),
         "the sum begins again at in[256]. Is the sum of all earlier tiles added");
  a.says(a.changed(32, [&](auto sum, auto i) { return sum - before(i / 32 * 32); }),
         "the sum of all warps before its own");
  a.says(a.changed(4, [&](auto sum, auto i) { return sum - before(i / 4 * 4); }),
         "Does each thread add the sum of all elements before its own");
  a.says(a.changed(512, [&](auto sum, auto) { return sum - before(256); }),
         "in[0] + ... + in[255] are missing from out[512]");
  a.says(a.changed(512, [&](auto sum, auto) { return sum + before(512) - before(256); }),
         "in[256] + ... + in[511] are added twice to out[512]");
  a.says(a.changed(777, [&](auto sum, auto) { return sum - a.in[777]; }),
         "in[777] is missing from out[777]");
  a.says(a.changed(256, [&](auto sum, auto) { return sum - a.in[256] + a.in[0]; }),
         "out[256] has in[0] instead of in[256]");
  words shifted = right;
  for (std::size_t i = 500; i < 9000; ++i) shifted[i] = right[i + 5];
  a.says(shifted, "out[500] is the sum up to in[505]");
}

TEST_CASE("a result in no known pattern is explained by a call with ones") {
  const example a(300);
  // Adds every third element once more.
  const auto program = [](const words& in) {
    words out(in.size());
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = sum += in[i] * (i % 3 == 2 ? 2 : 1);
    return out;
  };
  CHECK(a.explained(program) ==
        "if every element is 1, out[2] is 4 instead of 3: an element up to it is added again");
  const auto right = [](const words& in) {
    words out(in.size());
    std::partial_sum(in.begin(), in.end(), out.begin());
    return out;
  };
  CHECK(a.explained(right).empty());
}

}  // namespace scan_problem_test
