// Tests the launch lab's inputs, its comparison, and its messages about wrong results.
#include "common/lab/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "labs/tests/problem_tests.hpp"

namespace launch_problem_test {

using namespace stepwise;

struct example {
  explicit example(std::int64_t n, std::uint64_t seed = 7)
      : lab(problem_under_test()),
        call(lab.make_call({n}, seed)),
        x(floats(0)),
        y(floats(1)),
        garbage(n) {
    std::memset(garbage.data(), 0xc3, garbage.size() * sizeof(float));
  }

  std::vector<float> floats(std::size_t buffer) const {
    const auto& data = call.buffers.at(buffer).data;
    std::vector<float> values(data.size() / sizeof(float));
    std::memcpy(values.data(), data.data(), data.size());
    return values;
  }

  std::vector<float> right() const {
    std::vector<float> z(x.size());
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + y[i];
    return z;
  }
  // The right result up to element `end`, and garbage after it.
  std::vector<float> right_until(std::size_t end) const {
    std::vector<float> z = right();
    std::copy(garbage.begin() + end, garbage.end(), z.begin() + end);
    return z;
  }

  // The message of check() about this result, or "" if the result is right.
  std::string verdict(const std::vector<float>& z) const {
    const auto bytes = std::as_bytes(std::span(z));
    return lab.check(call, std::span(&bytes, 1)).value_or("");
  }

  void says(const std::vector<float>& z, const std::string& phrase) const {
    const std::string text = verdict(z);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  const problem& lab;
  problem_call call;
  std::vector<float> x, y, garbage;
};

TEST_CASE("a call has the contract's buffers and scalars, and its size and seed decide its bytes") {
  const example a(1000), again(1000), other(1000, 8), longer(1001);
  REQUIRE(a.call.buffers.size() == 3);
  CHECK(a.call.label == "n = 1000, seed 7");
  CHECK(a.call.scalars == std::vector<std::int64_t>{1000});
  for (const std::size_t input : {0, 1}) {
    CHECK(a.call.buffers[input].role == runner::buffer_role::input);
    CHECK(a.call.buffers[input].bytes == 4000);
  }
  CHECK(a.call.buffers[2].role == runner::buffer_role::output);
  CHECK(a.call.buffers[2].bytes == 4000);
  CHECK(a.x == again.x);
  CHECK(a.y == again.y);
  CHECK(a.x != other.x);
  CHECK(a.y != other.y);
  CHECK(a.x != a.y);
  CHECK(a.x[0] != longer.x[0]);
}

TEST_CASE("an input's elements are integers, all different, and their sums are exact") {
  const example e(1 << 22);
  for (const auto* values : {&e.x, &e.y}) {
    std::vector<char> seen(values->size(), 0);  // one entry per possible number
    std::size_t wrong = 0;
    for (const float value : *values) {
      const float number = value + (1 << 21);
      if (!(number >= 0 && number < (1 << 22) && number == std::floor(number)) ||
          seen[static_cast<std::size_t>(number)]++ != 0) {
        ++wrong;
      }
    }
    CHECK(wrong == 0);
  }
  std::size_t inexact = 0;
  for (std::size_t i = 0; i < e.x.size(); ++i)
    inexact += static_cast<double>(e.x[i] + e.y[i]) != static_cast<double>(e.x[i]) + e.y[i];
  CHECK(inexact == 0);
}

TEST_CASE("elements that are 2^22 places apart are in different orders") {
  const example e((1 << 22) + 1000);
  std::size_t same = 0;
  for (std::size_t i = 0; i < 1000; ++i) same += e.x[i] == e.x[i + (1 << 22)];
  CHECK(same < 10);
}

TEST_CASE("inputs have the same bytes on every machine, whether one core or several make them") {
  const problem& lab = problem_under_test();
  const auto hash = [&](std::int64_t n, std::uint64_t seed, std::size_t buffer) {
    return hash_of(lab.make_call({n}, seed).buffers[buffer].data);
  };
  // Computed one element after the other. The last two are large enough for several cores.
  CHECK(hash(5, 7, 0) == 0x22359f5fc88513a8);
  CHECK(hash(5, 7, 1) == 0x92c55252d1152fc2);
  CHECK(hash(10000019, 7, 0) == 0xeb8684d496e85429);
  CHECK(hash(10000019, 1, 1) == 0x6292c84cbe1da912);
}

TEST_CASE("sizes outside the contract are refused") {
  const problem& lab = problem_under_test();
  for (const problem::size& n :
       std::vector<problem::size>{{}, {0}, {-1}, {(1 << 30) + 1}, {1, 1}}) {
    CHECK_THROWS_AS(lab.make_call(n, 1), std::invalid_argument);
    CHECK_THROWS_AS(lab.work(n), std::invalid_argument);
  }
  CHECK_NOTHROW(lab.work({1 << 30}));
}

TEST_CASE("work is two reads and one write per addition") {
  const problem_work work = problem_under_test().work({1000});
  CHECK(work.bytes == 12000);
  CHECK(work.operations == 1000);
  CHECK(work.operation_unit == "additions");
  CHECK(work.rated_unit.empty());
}

TEST_CASE("the sums pass, and no result that differs from them in one element") {
  for (const std::int64_t n : {1, 2, 33, 256}) {
    const example e(n);
    std::vector<float> z = e.right();
    CHECK(e.verdict(z) == "");
    for (std::size_t i = 0; i < z.size(); ++i) {
      const float right = z[i];
      for (const float wrong : {std::nextafter(right, 1e9f), -right - 1, e.garbage[i],
                                std::numeric_limits<float>::quiet_NaN()}) {
        z[i] = wrong;
        CHECK(e.verdict(z) != "");
      }
      z[i] = right;
    }
    CHECK(e.verdict(z) == "");
  }
}

TEST_CASE("one wrong element in a large array is found, wherever it is") {
  const example e(9000001);
  std::vector<float> z = e.right();
  CHECK(e.verdict(z) == "");
  for (const std::size_t i : {std::size_t{0}, z.size() / 2 - 1, z.size() / 2, z.size() - 1}) {
    const float right = std::exchange(z[i], 0.5f);
    e.says(z, "1 of 9000001 elements is wrong, the last one is z[" + std::to_string(i) + "]");
    z[i] = right;
  }
}

TEST_CASE("a message has the expected and the found value, and their place") {
  const example e(3);
  std::vector<float> z = e.right();
  z[1] = 0.5f;
  const std::string text = e.verdict(z);
  CAPTURE(text);
  CHECK(text.starts_with("launch: z[1] = 0.5, expected x[1] + y[1] = "));
  CHECK(text.find("(n = 3, seed 7)") != std::string::npos);
}

TEST_CASE("common mistakes are recognised by the result that they produce") {
  const example e(1000);
  e.says(e.garbage, "nothing was written to z");
  e.says(e.x, "this is x alone");
  e.says(e.y, "this is y alone");
  const auto made = [&](auto rule) {
    std::vector<float> z(e.x.size());
    for (std::int64_t i = 0; i < std::ssize(z); ++i) z[i] = rule(i);
    return z;
  };
  e.says(made([&](auto i) { return e.x[i] - e.y[i]; }), "this is x - y");
  e.says(made([&](auto i) { return e.x[i] * e.y[i]; }), "this is x * y");
  e.says(made([&](auto i) { return e.x[i] + e.y[i] + e.garbage[i]; }), "do not add it to what is");
  e.says(made([&](auto i) { return std::trunc((e.x[i] + e.y[i]) / 2) * 2; }),
         "are close to the sum, but not equal to it: is the sum rounded");
  // If there is no such neighbour, nothing is written.
  const auto from = [&](std::int64_t in_x, std::int64_t in_y) {
    return made([&](std::int64_t i) {
      const bool inside = i + std::min(in_x, in_y) >= 0 && i + std::max(in_x, in_y) < 1000;
      return inside ? e.x[i + in_x] + e.y[i + in_y] : e.garbage[i];
    });
  };
  e.says(from(0, 1), "z[0] is x[0] + y[1]");
  e.says(from(32, 0), "z[0] is x[32] + y[0]");
  e.says(from(256, 256), "z[0] is x[256] + y[256]");
  e.says(from(-1, -1), "z[1] is x[0] + y[0]: do x, y and z have the same index?");
  std::vector<float> reversed = e.right();
  std::reverse(reversed.begin(), reversed.end());
  e.says(reversed, "z[i] is x[n - 1 - i] + y[n - 1 - i]");
}

TEST_CASE("missing elements are described by their place") {
  const example e(1003);
  e.says(e.right_until(768), "235 of 1003 elements are not written, all from z[768] on");
  e.says(e.right_until(768), "all from z[768] on. Does the number of blocks round up?");
  e.says(e.right_until(700), "for a last block that is not full");
  CHECK(e.verdict(e.right_until(768)).find("multiple of 4") == std::string::npos);
  e.says(e.right_until(1000), "on, if n is not a multiple of 4");
  e.says(e.right_until(1002), "1 of 1003 elements is not written, all from z[1002] on");
  std::vector<float> z = e.right();
  z[256] = z[513] = e.garbage[0];
  e.says(z, "2 of 1003 elements are not written. The first is z[256], and the last is z[513]");
}

TEST_CASE("an element that every thread leaves out is recognised, and a limited grid") {
  const example e(4261), large(270339);
  std::vector<float> no_first = e.right(), no_last = e.right();
  for (std::size_t i = 0; i < no_first.size(); ++i) {
    if (i % 1024 < 256) no_first[i] = e.garbage[i];
    if (i % 1024 >= 768) no_last[i] = e.garbage[i];
  }
  e.says(no_first, "The first 256 of every 1024 are missing: the first element of each thread, if");
  e.says(no_last, "The last 256 of every 1024 are missing: the last element of each thread, if");
  large.says(large.right_until(270336), "round up? If it does, but is limited, does each thread");
}

TEST_CASE("one input that is read twice, and bits that are added, are recognised") {
  const example e(1000);
  std::vector<float> x_twice(1000), y_twice(1000), bits(1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    x_twice[i] = 2 * e.x[i];
    y_twice[i] = 2 * e.y[i];
    bits[i] = static_cast<float>(static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(e.x[i]) +
                                                           std::bit_cast<std::uint32_t>(e.y[i])));
  }
  std::vector<float> more = e.right(), last = e.right();
  for (std::size_t i = 0; i < 1000; ++i) more[i] += e.y[i];
  e.says(more, "y is added twice");
  last[999] = last[0];
  CHECK(e.verdict(last).find("count down") == std::string::npos);
  e.says(x_twice, "this is x + x: is the second number read from y?");
  e.says(y_twice, "this is y + y: is the first number read from x?");
  e.says(bits, "the bits of x and y, added as integers: are x and y read as float or float4");
}

TEST_CASE("further calls show which elements are added") {
  // The explanation of a program that stores x[of_x(i)] + y[of_y(i)].
  const auto explained = [](const auto& of_x, const auto& of_y, float more = 0) {
    const example e(1000);
    const auto run = [&](const problem_call& call) -> std::optional<problem::results> {
      const auto at = [&](int buffer, std::size_t i) {
        return reinterpret_cast<const float*>(call.buffers[buffer].data.data())[i];
      };
      std::vector<float> z(1000);
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = at(0, of_x(i)) + at(1, of_y(i)) + more;
      const auto bytes = std::as_bytes(std::span(z));
      return problem::results{{bytes.begin(), bytes.end()}};
    };
    return e.lab.explain(e.call, *run(e.call), run);
  };
  const auto own = [](std::size_t i) { return i; };
  const auto in_block = [](std::size_t i) { return i % 256; };
  CHECK(
      explained(in_block, in_block)
          .starts_with("z[256] is x[0] + y[0], z[512] is x[0] + y[0], z[768] is x[0] + y[0]: do"));
  CHECK(explained(own, [](std::size_t i) {
          return i / 2;
        }).starts_with("z[1] is x[1] + y[0], z[3] is x[3] + y[1], z[5] is x[5] + y[2], and so"));
  CHECK(explained(own, own, 0.5f) == "");
}

TEST_CASE("wrong grids and indices are recognised by the missing elements") {
  const example e(4261);
  const auto left_out = [&](auto rule) {
    std::vector<float> z = e.right();
    for (std::int64_t i = 0; i < std::ssize(z); ++i)
      if (rule(i)) z[i] = e.garbage[i];
    return z;
  };
  // What threads with this index write, in as many blocks of this size as cover n.
  const auto written = [&](std::int64_t size, auto index) {
    std::vector<bool> is_written(4261);
    const std::int64_t blocks = (4261 + size - 1) / size;
    for (std::int64_t b = 0; b < blocks; ++b)
      for (std::int64_t t = 0; t < size; ++t)
        if (const std::int64_t i = index(b, t, blocks); i < 4261) is_written[i] = true;
    return left_out([&](auto i) { return !is_written[i]; });
  };
  for (const std::int64_t size : {32, 64, 128, 256, 512, 1024}) {
    CAPTURE(size);
    e.says(written(size, [](auto, auto t, auto) { return t; }),
           "Only one block of " + std::to_string(size) + " threads adds. Is blockIdx.x");
    e.says(written(size, [](auto b, auto, auto) { return b; }),
           "writes one element. Is threadIdx.x in the index");
    e.says(written(size, [](auto b, auto t, auto) { return b + t; }),
           "begin 1 element apart. Is blockIdx.x multiplied by blockDim.x?");
    e.says(written(size, [](auto b, auto t, auto blocks) { return b * blocks + t; }),
           "Is blockIdx.x multiplied by gridDim.x instead of blockDim.x?");
    e.says(written(size, [&](auto b, auto t, auto) { return t * size + b; }),
           "Is the index blockIdx.x * blockDim.x + threadIdx.x, and is the launch <<<blocks, ");
    e.says(e.right_until(4261 / size * size), "Does the number of blocks round up?");
    for (const int part : {2, 4})
      e.says(e.right_until((4261 + part * size - 1) / (part * size) * size),
             "threads for only 1 element in " + std::to_string(part));
    if (size <= 512)
      e.says(written(4 * size, [&](auto b, auto t, auto) { return b * size + t; }),
             "blockIdx.x multiplied by all elements that a block adds?");
    // One index for all threads of a block or a warp. Either the last index is stored, or each of
    // them.
    e.says(left_out([&](auto i) { return i % size != size - 1; }),
           "Only 1 of every " + std::to_string(size) + " are, from z[" + std::to_string(size - 1) +
               "] on. Does each thread have an int of its own");
    e.says(left_out([&](auto i) { return i % size >= size / 32; }), "Does each thread have an int");
    const auto warps = (4261 + size - 1) / size * (size / 32);
    e.says(e.right_until(warps), "Each of " + std::to_string(warps) + " warps writes one element");
  }
  e.says(e.right_until(4261 / 4), "That is n / 4. Is a size in bytes mistaken for a number");
  e.says(e.right_until(4260),
         "Does a thread add the last elements, from n / 4 * 4 on, if n is not");
  // The last element belongs to a block. It is not just a remainder of the vectors.
  const example two_blocks(33);
  two_blocks.says(two_blocks.right_until(32), "Only one block of 32 threads adds");
  e.says(e.right_until(1000), "on. Are there threads for all of n");
  e.says(left_out([](auto i) { return i % 4 != 0; }), "Only z[0], z[4], ... are. Is the index");
  e.says(left_out([](auto i) { return i == 0; }),
         "which is z[0]. Is 1 added to the index, or is index 0");
  e.says(left_out([](auto i) { return i < 2304; }), "all before z[2304]. Does a thread's loop");
  // Whole vectors are missing, but the elements after the last one are not.
  e.says(left_out([](auto i) { return i >= 4096 && i < 4260; }),
         "all from z[4096] to z[4259]. Does the number of blocks round up, after each division?");
  e.says(written(4 * 256, [](auto b, auto t, auto) { return 1024 * b + t / 4 + t % 4; }),
         "Only 259 of every 1024 are. Each thread adds 4 elements side by side");
  e.says(left_out([](auto i) { return i % 2560 >= 1280; }),
         "Only 1280 of every 2560 are, from z[0] on. How far does a thread advance? A grid has");
  e.says(left_out([](auto i) { return i % 256 < 16; }), "z[4111]. How far does a thread advance?");
  e.says(left_out([](auto i) { return i % 256 > 16 || i % 512 > 256; }),
         "z[4260]. How far does a thread advance?");
}

TEST_CASE("narrow indices are recognised by the last element that they reach") {
  const example e(65537);
  e.says(e.right_until(32768), "Is the index a short, which has 16 bits? Use an int");
  e.says(e.right_until(65536), "Is the index a short, which has 16 bits? Use an int");
  const example small(300), large((1 << 24) + 5);
  small.says(small.right_until(256), "is the index wider than a char, and does");
  // Above 2^24, only even integers are floats.
  std::vector<float> z = large.right();
  z[(1 << 24) + 1] = z[(1 << 24) + 3] = large.garbage[0];
  large.says(z, "2 of 16777221 elements are not written. Is the index a float");
}

TEST_CASE("NaN is never right") {
  const example e(20);
  std::vector<float> z = e.right();
  z[3] = std::numeric_limits<float>::quiet_NaN();
  e.says(z, "1 of 20 elements is NaN, and x and y hold none: does each thread set the variables");
}

TEST_CASE("a sum that is not reset, and a swapped launch with several elements per thread") {
  const example e(4261);
  std::vector<float> z = e.right();
  for (std::size_t i = 0; i < z.size(); ++i)
    if (i % 1024 >= 256) z[i] += z[i - 256];
  e.says(z, "z[256] is z[0] + x[256] + y[256]: does a thread's sum begin at 0 for each");
  z = e.right();
  for (std::size_t i = 0; i < z.size(); ++i)
    if (i % 256 >= 5) z[i] = e.garbage[i];  // 5 blocks of 4 * 256 elements
  e.says(z, "Only 5 of every 256 are, from z[0] on. Is the index blockIdx.x * blockDim.x");
  e.says(e.right_until(4 * 4 + 1024), "The blocks begin 4 elements apart if blockIdx.x is multi");
}

TEST_CASE("an output of another size is refused") {
  const example e(64);
  CHECK(e.lab.check(e.call, {}).has_value());
  CHECK(e.verdict(std::vector<float>(63)) != "");
}

}  // namespace launch_problem_test
