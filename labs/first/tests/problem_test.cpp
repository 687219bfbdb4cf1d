// Tests the first lab's pictures, its comparison, and its messages about wrong results.
#include "common/lab/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "common/lab/picture_problem.hpp"
#include "labs/tests/problem_tests.hpp"

namespace first_problem_test {

using namespace stepwise;

using bytes = std::vector<std::byte>;

struct example {
  explicit example(std::int64_t wide, std::int64_t high, std::uint64_t seed = 7)
      : lab(problem_under_test()),
        call(lab.make_call({wide, high}, seed)),
        width(wide),
        height(high),
        in(call.buffers.at(0).data) {}

  // The picture whose pixels are rule(x, y).
  template <class Rule>
  bytes made(const Rule& rule) const {
    bytes out(in.size());
    for (std::int64_t i = 0; i < std::ssize(out); ++i) out[i] = rule(i % width, i / width);
    return out;
  }
  std::byte at(std::int64_t x, std::int64_t y) const { return in[y * width + x]; }
  bytes right() const {
    return made([&](auto x, auto y) { return at(width - 1 - x, y); });
  }

  // The message of check() about this result, or "" if the result is right.
  std::string verdict(const bytes& out) const {
    const std::span<const std::byte> span(out);
    return lab.check(call, std::span(&span, 1)).value_or("");
  }
  void says(const bytes& out, const std::string& phrase) const {
    const std::string text = verdict(out);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  const problem& lab;
  problem_call call;
  std::int64_t width, height;
  bytes in;
};

constexpr std::byte garbage{0xc3};  // odd, like the fill of out before a call

TEST_CASE("a call has the contract's arrays in host memory, and size and seed decide its bytes") {
  const example a(37, 23), again(37, 23), other(37, 23, 8), turned(23, 37);
  CHECK(a.call.label == "width = 37, height = 23, seed 7");
  CHECK(a.call.memory == runner::memory_kind::host);
  CHECK(a.call.scalars == std::vector<std::int64_t>{37, 23});
  REQUIRE(a.call.buffers.size() == 2);
  CHECK(a.call.buffers[0].role == runner::buffer_role::input);
  CHECK(a.call.buffers[1].role == runner::buffer_role::output);
  for (const auto& buffer : a.call.buffers) {
    CHECK(buffer.bytes == 37 * 23);
    CHECK(buffer.element_bytes == 1);
  }
  CHECK(a.in == again.in);
  CHECK(a.in != other.in);
  CHECK(a.in != turned.in);
}

TEST_CASE("further calls show which pixels are confused") {
  const example e(37, 23);
  // The explanation of a program that stores pixel source(i) of in at i.
  const auto explained = [&](const auto& source) {
    const auto run = [&](const problem_call& call) -> std::optional<problem::results> {
      bytes out(e.in.size());
      for (std::int64_t i = 0; i < std::ssize(out); ++i)
        out[i] = call.buffers[0].data[source(i % 37, i / 37)];
      return problem::results{out};
    };
    return e.lab.explain(e.call, *run(e.call), run);
  };
  CHECK(explained([](auto x, auto y) { return y * 37 + 36 - x; }) == "");
  CHECK(explained([](auto x, auto y) { return y * 37 + (x < 9 ? 36 - x : x); }) ==
        "out[9], column 9 of row 0, holds column 9 of row 0 of in, not column 27 of row 0, and "
        "out[10], column 10 of row 0, holds column 10 of row 0 of in, not column 26 of row 0: is "
        "an index the row times width plus the column, with the same x and y in both indices?");
}

TEST_CASE("pixels are even and not 0, have many values, and no row equals another or a reverse") {
  const example e(97, 61);
  std::set<std::byte> values;
  std::set<bytes> rows;
  for (const std::byte pixel : e.in) {
    CHECK(std::to_integer<int>(pixel) % 2 == 0);
    CHECK(pixel != std::byte{0});
    values.insert(pixel);
  }
  CHECK(values.size() > 80);
  for (std::int64_t y = 0; y < e.height; ++y) {
    bytes row(e.in.begin() + y * e.width, e.in.begin() + (y + 1) * e.width);
    CHECK(rows.insert(row).second);
    std::reverse(row.begin(), row.end());
    CHECK(rows.insert(row).second);
  }
}

TEST_CASE("inputs have the same bytes on every machine, whether one core or several make them") {
  const auto hash = [](std::int64_t width, std::int64_t height) {
    return hash_of(problem_under_test().make_call({width, height}, 7).buffers[0].data);
  };
  CHECK(hash(5, 3) == 0x3d8650c1f431bb9d);
  CHECK(hash(7001, 5003) == 0xf21bb790fd1a1807);  // large enough for several cores
}

TEST_CASE("sizes outside the contract are refused") {
  const problem& lab = problem_under_test();
  for (const problem::size& n : std::vector<problem::size>{
           {}, {5}, {0, 1}, {1, 0}, {-1, 1}, {65536, 1}, {1, 65536}, {65535, 65535}, {1, 1, 1}}) {
    CHECK_THROWS_AS(lab.make_call(n, 1), std::invalid_argument);
    CHECK_THROWS_AS(lab.work(n), std::invalid_argument);
  }
  CHECK_NOTHROW(lab.work({32768, 32768}));
  CHECK_NOTHROW(lab.work({65535, 1}));
}

TEST_CASE("work is one read and one write per pixel") {
  const problem_work work = problem_under_test().work({100, 10});
  CHECK(work.bytes == 2000);
  CHECK(work.operations == 0);
  CHECK(work.rated_unit.empty());
}

TEST_CASE("the mirrored picture passes, and no picture that differs from it in one pixel") {
  for (const auto& [width, height] :
       std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {1, 2}, {9, 7}}) {
    const example e(width, height);
    bytes out = e.right();
    CHECK(e.verdict(out) == "");
    for (std::byte& pixel : out) {
      const std::byte right = pixel;
      for (const std::byte wrong : {garbage, right ^ std::byte{1}, right ^ std::byte{128}}) {
        pixel = wrong;
        CHECK(e.verdict(out) != "");
      }
      pixel = right;
    }
  }
}

TEST_CASE("a message has the expected and the found value, and their place") {
  const example e(5, 3);
  bytes out = e.right();
  out[7] = std::byte{2};
  const std::string text = e.verdict(out);
  CAPTURE(text);
  CHECK(text.starts_with("mirror: out[7] = 2, expected " +
                         std::to_string(std::to_integer<int>(e.at(2, 1))) +
                         ": column 2 of row 1 (width = 5, height = 3, seed 7)"));
  CHECK(text.ends_with("; 1 pixel of 15 is wrong, in no known pattern"));
  out[9] = std::byte{4};
  e.says(out, "2 pixels of 15 are wrong, from out[7] to out[9]");
}

TEST_CASE("common mistakes are recognised by the picture that they produce") {
  const example e(37, 23);
  e.says(bytes(e.in.size(), garbage), "nothing was written to out");
  e.says(e.in, "left and right are not swapped");
  e.says(e.made([&](auto x, auto y) { return e.at(x, e.height - 1 - y); }), "upside down");
  e.says(e.made([&](auto x, auto y) { return e.at(e.width - 1 - x, e.height - 1 - y); }),
         "rotated by 180 degrees");
  e.says(e.made([&](auto x, auto y) {
    const auto from = y * e.width + e.width - x;
    return from < std::ssize(e.in) ? e.in[from] : garbage;
  }),
         "one place too far to the right");
  e.says(e.made([&](auto x, auto y) { return ~e.at(e.width - 1 - x, y); }),
         "but values are changed, ");
}

TEST_CASE("pixels that are mirrored twice are recognised") {
  const example e(37, 23);
  bytes out = e.in;  // mirrored in place, from left to right
  for (std::int64_t y = 0; y < e.height; ++y)
    for (std::int64_t x = 0; x < e.width; ++x)
      out[y * e.width + x] = out[y * e.width + e.width - 1 - x];
  e.says(out, "are as in the picture, not mirrored: is one array both read and written");
  out[30] ^= std::byte{4};
  e.says(out, "pixels of 851 are wrong, from out[");
}

TEST_CASE("missing pixels are described by their place") {
  const example e(37, 23);
  const auto without = [&](auto is_left_out) {
    return e.made([&](auto x, auto y) {
      return is_left_out(x, y) ? std::byte{0} : e.at(e.width - 1 - x, y);
    });
  };
  e.says(
      without([&](auto x, auto y) { return y * e.width + x >= 768; }),
      "83 pixels of 851 hold the same wrong value, 0. They are all pixels from out[768] on. Does");
  e.says(without([](auto x, auto y) { return x == 36 && y == 22; }),
         "1 pixel of 851 has the wrong value 0. It is out[850]. Does it have a thread");
  e.says(without([](auto x, auto) { return x >= 32; }),
         "They are all columns from 32 on. Does a row of");
  e.says(without([](auto, auto y) { return y >= 16; }),
         "They are all rows from 16 on. Does the grid round");
  e.says(without([](auto, auto y) { return y >= 3; }),
         "They are all rows from 3 on. Is the block a dim3 with several rows of threads");
  e.says(without([](auto x, auto y) { return x >= 32 || y >= 16; }),
         "They are all columns from 32 on and all rows from 16 on. Does the grid");
  e.says(without([](auto x, auto y) { return x >= 32 && y >= 16; }), "The first is out[624]");
  e.says(without([](auto x, auto) { return x % 32 >= 8; }),
         "They are columns 8 to 31 of every 32. Does x use only");
  e.says(without([](auto x, auto y) { return x % 32 >= 8 && y > 0; }), "The first is out[45]");
  e.says(without([](auto, auto y) { return y % 16 >= 8; }),
         "They are rows 8 to 15 of every 16. Does x use only");
  e.says(without([](auto x, auto y) { return x == 5 && y > 3; }),
         "19 pixels of 851 hold the same wrong value, 0. The first is out[153], and the last is "
         "out[819].");
  // Pixels that the copy to the host did not reach.
  bytes out = e.right();
  std::fill(out.begin() + 37, out.end(), garbage);
  e.says(out, "814 pixels of 851 were not written. They are all from out[37] on. Does the copy to");
  e.says(bytes(e.in.size()), "every pixel is 0: is the picture copied to the device");
}

TEST_CASE("a wrong index is recognised by where the missing tail begins") {
  const example e(37, 23);  // 4 blocks of 256 threads
  const auto from = [](const example& of, std::int64_t first) {
    bytes out = of.right();
    std::fill(out.begin() + first, out.end(), std::byte{0});
    return out;
  };
  e.says(from(e, 268), "267 is 3 * 4 + 255. Is blockIdx.x multiplied by 4 (gridDim.x or");
  e.says(from(e, 269), "all pixels from out[269] on. Does each of them have a thread");
  e.says(from(e, 170), "169 is 6 * 7 + 127. Is blockIdx.x multiplied by 7 (gridDim.x or");
  e.says(from(e, 256), "They are all but the first 256. Are there several blocks");
  e.says(from(e, 512), "all pixels from out[512] on. Does each of them have a thread");
  const example row(257, 1), column(1, 300);
  row.says(from(row, 256),
           "1 pixel of 257 has the wrong value 0. It is out[256]. Does it have a thread, "
           "and is every index wider than an unsigned char");
  column.says(
      from(column, 256),
      "all pixels from out[256] on. Does each of them have a thread, and is every index wider "
      "than an unsigned char");
}

TEST_CASE("rows that are height pixels apart are recognised, in out and in `in`") {
  const example e(37, 23);
  // Either the last thread to write wins, or the first.
  for (const bool last_wins : {true, false}) {
    bytes out(e.in.size());
    for (std::int64_t y = 0; y < e.height; ++y)
      for (std::int64_t x = 0; x < e.width; ++x)
        if (std::byte& to = out[y * e.height + x]; last_wins || to == std::byte{0})
          to = e.at(e.width - 1 - x, y);
    e.says(out, "row y of the result begins at out[23 * y]");
    out[400] = std::byte{2};
    e.says(out, "pixels of 851 are wrong, from out[");
  }
  e.says(e.made([&](auto x, auto y) { return e.in[y * e.height + e.width - 1 - x]; }),
         "row y is read from in[23 * y] on");
}

TEST_CASE("a picture of your own becomes grey, and the last of its stages is the expected result") {
  const auto& lab = dynamic_cast<const picture_problem&>(problem_under_test());
  picture rgba{2, 1, 4, bytes(8)};
  for (int i = 0; i < 8; ++i) rgba.pixels[i] = static_cast<std::byte>(10 * i + 1);
  const problem_call call = lab.call_with(rgba, "mine.png");
  CHECK(call.label == "mine.png");
  CHECK(call.memory == runner::memory_kind::host);
  CHECK(call.buffers.at(0).data == bytes{std::byte{11}, std::byte{51}});
  const auto stages = lab.stages(call);
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].name == "grey");
  CHECK(stages[1].name == "mirrored");
  CHECK(stages[1].shown == picture{2, 1, 1, {std::byte{51}, std::byte{11}}});
}

TEST_CASE("an output of another size is refused") {
  const example e(8, 8);
  CHECK(e.lab.check(e.call, {}).has_value());
  CHECK(e.verdict(bytes(63)) != "");
}

}  // namespace first_problem_test
