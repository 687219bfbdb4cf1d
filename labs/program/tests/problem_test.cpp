// Tests the frames of the lab `program`, its comparison, and its messages about wrong results.
#include "common/lab/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "labs/tests/problem_tests.hpp"

namespace program_problem_test {

using namespace stepwise;

using bytes = std::vector<std::byte>;

// The results of a slow and simple reference, which differs from the lab's own.
struct example {
  example(std::int64_t frame_count, std::int64_t wide, std::int64_t high, std::uint64_t seed = 7)
      : call(problem_under_test().make_call({frame_count, wide, high}, seed)),
        frames(frame_count),
        width(wide),
        height(high) {}

  int pixel(std::int64_t f, std::int64_t x, std::int64_t y) const {
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return std::to_integer<int>(call.buffers.at(0).data.at(12 + (f * height + y) * width + x));
  }
  std::size_t result_bytes() const { return 4 + width * height; }
  bytes right() const {
    bytes all;
    for (std::int64_t f = 0; f < frames; ++f) {
      bytes one(4);
      std::uint32_t total = 0;
      for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
          int sum = 4;
          for (int i = 0; i < 9; ++i) sum += pixel(f, x + i % 3 - 1, y + i / 3 - 1);
          one.push_back(static_cast<std::byte>(sum / 9));
          total += static_cast<std::uint32_t>(sum / 9);
        }
      }
      std::memcpy(one.data(), &total, 4);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  // The bytes of one frame's result.
  std::span<std::byte> result(bytes& all, std::int64_t f) const {
    return std::span(all).subspan(f * result_bytes(), result_bytes());
  }

  std::string verdict(const bytes& out) const {
    const std::span<const std::byte> span(out);
    return problem_under_test().check(call, std::span(&span, 1)).value_or("");
  }
  void says(const bytes& out, const std::string& phrase) const {
    const std::string text = verdict(out);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  problem_call call;
  std::int64_t frames, width, height;
};

TEST_CASE("a call has its arrays in files, and size and seed decide its bytes") {
  const example a(3, 37, 23), again(3, 37, 23), other(3, 37, 23, 8);
  CHECK(a.call.label == "frames = 3, width = 37, height = 23, seed 7");
  CHECK(a.call.memory == runner::memory_kind::files);
  CHECK(a.call.scalars.empty());
  REQUIRE(a.call.buffers.size() == 2);
  CHECK(a.call.buffers[0].bytes == 12 + 3 * 37 * 23);
  CHECK(a.call.buffers[1].bytes == 3 * (4 + 37 * 23));
  CHECK(a.call.buffers[0].data == again.call.buffers[0].data);
  CHECK(a.call.buffers[0].data != other.call.buffers[0].data);
  std::int32_t header[3];
  std::memcpy(header, a.call.buffers[0].data.data(), sizeof header);
  CHECK(header[0] == 3);
  CHECK(header[1] == 37);
  CHECK(header[2] == 23);
  for (const auto& n : {problem::size{0, 1, 1}, {1, 0, 1}, {1, 1, 65536}, {1, 5000, 5000}, {3, 3}})
    CHECK_THROWS_AS((void)problem_under_test().make_call(n, 1), std::invalid_argument);
}

TEST_CASE("the reference is the mean of nine pixels, also for one pixel, row or column") {
  for (const auto& [f, w, h] :
       {std::array{3, 37, 23}, {2, 1, 1}, {2, 5, 1}, {2, 1, 5}, {1, 2, 2}}) {
    const example e(f, w, h);
    CAPTURE(e.call.label);
    CHECK(e.verdict(e.right()).empty());
  }
}

TEST_CASE("one wrong byte is found, wherever it is") {
  const example e(2, 5, 3);
  const bytes right = e.right();
  for (std::size_t i = 0; i < right.size(); ++i) {
    CAPTURE(i);
    bytes wrong = right;
    wrong[i] ^= std::byte{1};
    CHECK(!e.verdict(wrong).empty());
  }
  bytes wrong = right;
  e.result(wrong, 1)[4 + 7] ^= std::byte{1};
  e.says(wrong, "frame 1: pixel (x = 2, y = 1) = ");
  CHECK(!e.verdict({}).empty());
}

TEST_CASE("the message names the cause of a wrong frame") {
  const example e(3, 37, 23);
  const bytes right = e.right();
  bytes wrong = right;
  std::ranges::fill(e.result(wrong, 1), std::byte{0});
  e.says(wrong, "frame 1: pixel (x = 0, y = 0) = 0, expected ");
  e.says(wrong, "all pixels are 0");
  wrong = right;
  bytes of_other = right;
  std::ranges::copy(e.result(of_other, 0), e.result(wrong, 2).begin());
  e.says(wrong, "this is the result of frame 0");
  wrong = right;
  std::ranges::copy(e.result(of_other, 0).subspan(100, 200), e.result(wrong, 1).begin() + 100);
  e.says(wrong, "every pixel belongs to this frame or to another one");
  wrong = right;
  for (int i = 0; i < 37 * 23; ++i)
    e.result(wrong, 1)[4 + i] = static_cast<std::byte>(e.pixel(1, i % 37, i / 37));
  e.says(wrong, "it was not smoothed");
  wrong = right;
  e.result(wrong, 0)[4 + 36] ^= std::byte{8};
  e.says(wrong, "only pixels at the edges are wrong");
  wrong = right;
  e.result(wrong, 0)[4 + 40] ^= std::byte{128};
  e.says(wrong, no_known_pattern);
}

TEST_CASE("the message names the cause of a wrong sum") {
  const example e(3, 37, 23);
  const bytes right = e.right();
  const auto sum_of = [&](int f) {
    bytes all = right;
    std::uint32_t sum = 0;
    std::memcpy(&sum, e.result(all, f).data(), 4);
    return sum;
  };
  const auto with_sum = [&](std::uint32_t sum) {
    bytes wrong = right;
    std::memcpy(e.result(wrong, 2).data(), &sum, 4);
    return wrong;
  };
  e.says(with_sum(sum_of(0) + sum_of(1) + sum_of(2)), "this is the sum of frames 0 to 2");
  e.says(with_sum(0), "was the sum copied before the kernel had ended?");
  std::uint32_t before = 0;
  for (int i = 0; i < 37 * 23; ++i)
    before += static_cast<std::uint32_t>(e.pixel(2, i % 37, i / 37));
  e.says(with_sum(before), "the pixels before smoothing");
  e.says(with_sum(sum_of(2) + 1), "frame 2: the pixels are right, but the sum = ");
}

TEST_CASE("the work is that of the frames, not of the header and the sums") {
  const problem_work work = problem_under_test().work({3, 37, 23});
  CHECK(work.bytes == 2 * 3 * 37 * 23);
  CHECK(work.operations == 10 * 3 * 37 * 23);
}

}  // namespace program_problem_test
