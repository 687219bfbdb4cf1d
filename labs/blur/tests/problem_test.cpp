// Tests of the blur lab's pictures, reference, comparison, and of what it says about wrong results.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "common/lab/picture_problem.hpp"
#include "labs/blur/blur.hpp"
#include "labs/tests/problem_tests.hpp"

namespace blur_problem_test {

using namespace stepwise;
using bytes = std::vector<unsigned char>;

// The stages once more, pixel by pixel and as the contract words them: 49 products, no separation.
struct example {
  example(std::int64_t w, std::int64_t h, std::uint64_t seed = 7)
      : lab(problem_under_test()), call(lab.make_call({w, h}, seed)), width(w), height(h) {
    const auto* const rgba = reinterpret_cast<const unsigned char*>(call.buffers.at(0).data.data());
    for (std::int64_t i = 0; i < width * height; ++i) {
      const unsigned char* const p = rgba + 4 * i;
      grey.push_back(static_cast<unsigned char>(
          std::fmaf(p[2], 0.114350f, std::fmaf(p[0], 0.298839f, p[1] * 0.586811f))));
    }
    blurred = of_each([&](std::int64_t x, std::int64_t y) {
      const int weight[] = {1, 2, 3, 4, 3, 2, 1};
      int sum = 0;
      for (int j = -3; j <= 3; ++j)
        for (int i = -3; i <= 3; ++i) sum += weight[j + 3] * weight[i + 3] * at(grey, x + i, y + j);
      return sum / 256;
    });
    right = edges_of(blurred);
  }

  int at(const bytes& picture, std::int64_t x, std::int64_t y) const {
    return x < 0 || y < 0 || x >= width || y >= height ? 0 : picture[y * width + x];
  }

  template <class Value>
  bytes of_each(const Value& value) const {
    bytes picture;
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        picture.push_back(static_cast<unsigned char>(value(x, y)));
    return picture;
  }

  bytes edges_of(const bytes& in) const {
    return of_each([&](std::int64_t x, std::int64_t y) {
      const int sobel[] = {1, 2, 1};
      int gx = 0, gy = 0;
      for (int k = -1; k <= 1; ++k) {
        gx += sobel[k + 1] * (at(in, x + 1, y + k) - at(in, x - 1, y + k));
        gy += sobel[k + 1] * (at(in, x + k, y + 1) - at(in, x + k, y - 1));
      }
      int root = 0;
      while (root < 255 && (root + 1) * (root + 1) <= gx * gx + gy * gy) ++root;
      return root;
    });
  }

  // The message of check() about this result; "" if it is right.
  std::string verdict(const bytes& out) const {
    const auto all = std::as_bytes(std::span(out));
    return lab.check(call, std::span(&all, 1)).value_or("");
  }

  void says(const bytes& out, const std::string& phrase) const {
    const std::string text = verdict(out);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  const problem& lab;
  problem_call call;
  std::int64_t width, height;
  bytes grey, blurred, right;
};

TEST_CASE("a call has the contract's buffers and scalars, and its size and seed decide its bytes") {
  const example a(31, 33), again(31, 33), other(31, 33, 8);
  REQUIRE(a.call.buffers.size() == 3);
  CHECK(a.call.label == "width = 31, height = 33, seed 7");
  CHECK(a.call.scalars == std::vector<std::int64_t>{31, 33});
  CHECK(a.call.buffers[0].role == runner::buffer_role::input);
  CHECK(a.call.buffers[0].bytes == 4 * 31 * 33);
  CHECK(a.call.buffers[1].role == runner::buffer_role::output);
  CHECK(a.call.buffers[1].bytes == 31 * 33);
  CHECK(a.call.buffers[2].role == runner::buffer_role::scratch);
  CHECK(a.call.buffers[2].bytes == scratch_bytes(31, 33));
  CHECK(scratch_bytes(31, 33) == 2 * 1024);
  CHECK(a.call.buffers[0].data == again.call.buffers[0].data);
  CHECK(a.grey != other.grey);
}

TEST_CASE("a picture is made alike by one core and by several") {
  const problem& lab = problem_under_test();
  const auto small = lab.make_call({100, 60}, 7).buffers[0].data;
  const auto large = lab.make_call({3000, 3001}, 7).buffers[0].data;
  CHECK(hash_of(small) == hash_of(lab.make_call({100, 60}, 7).buffers[0].data));
  CHECK(large.size() == 4 * 3000 * 3001);
  CHECK(hash_of(large) == hash_of(lab.make_call({3000, 3001}, 7).buffers[0].data));
}

TEST_CASE("a picture has edges of all strengths, and looks like none of its shifted copies") {
  const example e(200, 150);
  std::vector<int> often(256);
  for (const unsigned char value : e.right) ++often[value];
  CHECK(std::count_if(often.begin(), often.end(), [](int n) { return n > 0; }) > 100);
  CHECK(often[255] < 30000 / 4);
  for (int dy = -3; dy <= 3; ++dy) {
    for (int dx = -3; dx <= 3; ++dx) {
      if (dx == 0 && dy == 0) continue;
      CAPTURE(dx);
      CAPTURE(dy);
      CHECK(e.of_each([&](auto x, auto y) { return e.at(e.right, x + dx, y + dy); }) != e.right);
    }
  }
}

TEST_CASE("sizes outside the contract are refused") {
  const problem& lab = problem_under_test();
  for (const problem::size& n : std::vector<problem::size>{
           {}, {4}, {0, 1}, {1, 0}, {-1, -1}, {1, 65536}, {65536, 1}, {32768, 32768}, {1, 1, 1}}) {
    CHECK_THROWS_AS(lab.make_call(n, 1), std::invalid_argument);
    CHECK_THROWS_AS(lab.work(n), std::invalid_argument);
  }
  CHECK_NOTHROW(lab.work({32768, 32767}));
}

TEST_CASE("work is four bytes in and one out for each pixel") {
  const problem_work work = problem_under_test().work({640, 480});
  CHECK(work.bytes == 5 * 640 * 480);
  CHECK(work.rated_unit.empty());
}

TEST_CASE("the edges pass, computed another way, and nothing that differs in one pixel") {
  const std::vector<std::pair<int, int>> sizes = {{1, 1}, {3, 5},   {1, 9},
                                                  {9, 1}, {31, 33}, {64, 7}};
  for (const auto& [width, height] : sizes) {
    const example e(width, height);
    bytes out = e.right;
    CHECK(e.verdict(out) == "");
    for (std::size_t i = 0; i < out.size(); i += 1 + out.size() / 50) {
      out[i] ^= 1;
      CHECK(e.verdict(out) != "");
      out[i] ^= 1;
    }
    CHECK(e.verdict(out) == "");
  }
}

TEST_CASE("a message says what was expected, found and where") {
  const example e(40, 30);
  bytes out = e.right;
  out[17 * 40 + 5] = static_cast<unsigned char>(e.right[17 * 40 + 5] + 1);
  const std::string text = e.verdict(out);
  CAPTURE(text);
  CHECK(text.starts_with("edges: out[17][5] = " + std::to_string(out[17 * 40 + 5]) + ", expected " +
                         std::to_string(e.right[17 * 40 + 5])));
  CHECK(text.find("(width = 40, height = 30, seed 7)") != std::string::npos);
  CHECK(text.ends_with("1 of 1200 pixels are wrong, in rows 17 to 17"));
}

TEST_CASE("usual mistakes are recognised by the picture they leave") {
  const example e(70, 50);
  e.says(bytes(3500, 0xa5), "was anything written to it?");
  e.says(e.grey, "this is the grey picture");
  e.says(e.blurred, "this is the blurred picture");
  e.says(e.edges_of(e.grey), "these are the edges of the grey picture");
  e.says(e.of_each([&](auto x, auto y) { return e.at(e.right, x + 1, y); }),
         "shifted by -1 columns and 0 rows");
  e.says(e.of_each([&](auto x, auto y) { return e.at(e.right, x, y - 2); }),
         "shifted by 0 columns and 2 rows");
  e.says(
      e.of_each([&](auto x, auto y) { return e.right[y * 70 + x] ^ (x == 0 || y == 49 ? 1 : 0); }),
      "all within 4 of the picture's border");
  bytes cut = e.right;
  std::fill(cut.begin() + 48 * 70, cut.end(), 0xa5);
  e.says(cut, "all rows from 48 on are one byte");
}

const picture_problem& takes_pictures() {
  const auto* const lab = dynamic_cast<const picture_problem*>(&problem_under_test());
  REQUIRE(lab != nullptr);
  return *lab;
}

TEST_CASE("a picture of your own is a call like any other, fourth byte and all") {
  const example e(31, 33);
  const picture rgba{31, 33, 4, e.call.buffers[0].data};
  const problem_call call = takes_pictures().call_with(rgba, "mine.png");
  CHECK(call.label == "mine.png");
  CHECK(call.scalars == e.call.scalars);
  REQUIRE(call.buffers.size() == e.call.buffers.size());
  for (std::size_t i = 0; i < call.buffers.size(); ++i) {
    CHECK(call.buffers[i].name == e.call.buffers[i].name);
    CHECK(call.buffers[i].role == e.call.buffers[i].role);
    CHECK(call.buffers[i].bytes == e.call.buffers[i].bytes);
    CHECK(call.buffers[i].data == e.call.buffers[i].data);
  }
  CHECK_THROWS_AS(takes_pictures().call_with({65536, 1, 4, {}}, "wide"), std::invalid_argument);
  CHECK_THROWS_AS(takes_pictures().call_with({0, 0, 4, {}}, "none"), std::invalid_argument);
}

TEST_CASE("the stages are those of the contract, and the last is the result") {
  const example e(65, 40);
  const auto stages = takes_pictures().stages(e.call);
  REQUIRE(stages.size() == 3);
  const auto is = [&](std::size_t stage, const char* name, const bytes& right) {
    CHECK(stages[stage].name == name);
    const auto all = std::as_bytes(std::span(right));
    CHECK(stages[stage].shown == picture{65, 40, 1, {all.begin(), all.end()}});
  };
  is(0, "grey", e.grey);
  is(1, "blurred", e.blurred);
  is(2, "edges", e.right);
}

TEST_CASE("an output of another size is no output") {
  const example e(8, 8);
  CHECK(e.lab.check(e.call, {}).has_value());
  CHECK(e.verdict(bytes(63)) != "");
}

TEST_CASE("19_approximate_sqrt: an approximate root of a half more is exact when it is truncated") {
  const double error = std::ldexp(1.0, -22);  // PTX grants 2^-23, of the root
  for (int s = 0; s <= 2 * 1020 * 1020; ++s) {
    const double root = std::sqrt(s + 0.5);
    const int right = std::min(255, static_cast<int>(std::sqrt(static_cast<double>(s))));
    if (std::min(255, static_cast<int>(root * (1 - error))) != right ||
        std::min(255, static_cast<int>(root * (1 + error))) != right) {
      FAIL("s = " << s);
    }
  }
}

TEST_CASE("20_no_conversions: tiny floats and larger weights make the same grey, of every colour") {
  const auto tiny = [](unsigned bits) { return std::bit_cast<float>(bits); };
  for (unsigned red = 0; red < 256; ++red) {
    unsigned wrong = 0;
    for (unsigned green = 0; green < 256; ++green) {
      for (unsigned blue = 0; blue < 256; ++blue) {
        const float right = std::fmaf(
            static_cast<float>(blue), 0.114350f,
            std::fmaf(static_cast<float>(red), 0.298839f, static_cast<float>(green) * 0.586811f));
        const float scaled = std::fmaf(
            tiny(blue << 16), 0.114350f * 0x1p111f,
            std::fmaf(tiny(red), 0.298839f * 0x1p127f, tiny(green << 8) * (0.586811f * 0x1p119f)));
        wrong += scaled != right * 0x1p-22f;
      }
    }
    CHECK_MESSAGE(wrong == 0, "red = " << red);
  }
}

TEST_CASE("20_no_conversions: the lowest byte of a sum that is rounded down is the whole part") {
  std::fesetround(FE_TOWARDZERO);
  for (const float unit : {1.0f, 0x1p-22f}) {
    for (float value = 0; value < 256; value += 0.0137f) {
      volatile float sum = value * unit + unit * (1 << 23);
      const auto bits = std::bit_cast<unsigned>(static_cast<float>(sum));
      if ((bits & 255) != static_cast<unsigned>(value)) FAIL_CHECK("value " << value);
    }
  }
  std::fesetround(FE_TONEAREST);
}

}  // namespace blur_problem_test
