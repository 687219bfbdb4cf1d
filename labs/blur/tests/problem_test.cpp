// Tests the blur lab's pictures, reference and comparison, and its hints about mistakes.
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

// The stages once more, pixel by pixel and as the contract states them: 49 products, no separation.
struct example {
  example(std::int64_t w, std::int64_t h, std::uint64_t seed = 7)
      : example(problem_under_test().make_call({w, h}, seed)) {}
  explicit example(problem_call made)
      : lab(problem_under_test()),
        call(std::move(made)),
        width(call.scalars[0]),
        height(call.scalars[1]) {
    grey = grey_by([](const unsigned char* p) {
      return std::fmaf(p[2], 0.114350f, std::fmaf(p[0], 0.298839f, p[1] * 0.586811f));
    });
    blurred = blurred_from(grey);
    right = edges_of(blurred);
  }

  // The weight of the row or column this far away; 0 beyond 3.
  static int weight(int away) { return std::max(0, 4 - std::abs(away)); }

  // value(p) of each colour.
  template <class Value>
  bytes grey_by(const Value& value) const {
    const auto* const rgba = reinterpret_cast<const unsigned char*>(call.buffers.at(0).data.data());
    return of_each([&](auto x, auto y) { return value(rgba + 4 * (y * width + x)); });
  }

  // Every pixel becomes last(sum). The sum adds term(grey, j, i) for rows j and columns i from -3
  // to 3.
  template <class Term, class Last>
  bytes blurred_by(const bytes& from, const Term& term, const Last& last) const {
    return of_each([&](auto x, auto y) {
      int sum = 0;
      for (int j = -3; j <= 3; ++j)
        for (int i = -3; i <= 3; ++i) sum += term(at(from, x + i, y + j), j, i);
      return last(sum);
    });
  }
  bytes blurred_from(const bytes& from) const {
    return blurred_by(
        from, [](int value, int j, int i) { return weight(j) * weight(i) * value; },
        [](int sum) { return sum / 256; });
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

  // The contract's length of a gradient.
  static int edge(int gx, int gy) {
    int root = 0;
    while (root < 255 && (root + 1) * (root + 1) <= gx * gx + gy * gy) ++root;
    return root;
  }
  template <class Length = decltype(edge)>
  bytes edges_of(const bytes& in, const Length& length = edge) const {
    return of_each([&](std::int64_t x, std::int64_t y) {
      const int sobel[] = {1, 2, 1};
      int gx = 0, gy = 0;
      for (int k = -1; k <= 1; ++k) {
        gx += sobel[k + 1] * (at(in, x + 1, y + k) - at(in, x - 1, y + k));
        gy += sobel[k + 1] * (at(in, x + k, y + 1) - at(in, x + k, y - 1));
      }
      return length(gx, gy);
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

TEST_CASE("one core and several cores make the same picture") {
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

TEST_CASE("work is four bytes in and one out per pixel") {
  const problem_work work = problem_under_test().work({640, 480});
  CHECK(work.bytes == 5 * 640 * 480);
  CHECK(work.rated_unit.empty());
}

TEST_CASE("edges that are computed in another way pass, unless one pixel differs") {
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
  CHECK(text.find("; 1 of 1200 pixels is wrong, by at most 1") != std::string::npos);
  out[20 * 40] = static_cast<unsigned char>(e.right[20 * 40] ^ 128);
  const std::string other = e.verdict(out);
  CAPTURE(other);
  CHECK(other.ends_with(
      "2 of 1200 pixels are wrong, by up to 128, in rows 17 to 20, in no known pattern"));
}

TEST_CASE("common mistakes are recognised by the picture that they leave") {
  const example e(70, 50);
  e.says(bytes(3500, 0xa5), "every pixel is 165: was anything written to out?");
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
  bytes stored(3500), packed(3500);
  for (std::int64_t y = 0; y < 50; ++y)
    for (std::int64_t x = 0; x < 70; ++x) stored[x * 50 + y] = e.right[y * 70 + x];
  e.says(stored, "the picture is transposed: the edge stage stores pixel (x, y) at x * height + y");
  for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = e.right[i / 4 * 4 + 3 - i % 4];
  e.says(packed, "every 4 pixels of the result are in reverse order");
  bytes cut = e.right;
  std::fill(cut.begin() + 48 * 70, cut.end(), 0xa5);
  e.says(cut, "the result holds 165 in all rows from 48 on");
}

TEST_CASE("shuffles in the wrong direction are recognised, in one stage and in all") {
  const example e(97, 60);
  struct lanes {
    int left, right;
    const char* says;
  };
  for (const lanes& l :
       {lanes{1, -1, "from the right neighbour and those on the right from the left"},
        lanes{-1, -1, "from the left neighbour and those on the right from the left"},
        lanes{0, 1, "from itself and those on the right from the right"}}) {
    // The column that a lane takes for x + i.
    const auto taken = [&](std::int64_t x, std::int64_t i) {
      const std::int64_t own = x / 4 * 4, column = x + i;
      return column < own        ? column + 4 + 4 * l.left
             : column >= own + 4 ? column - 4 + 4 * l.right
                                 : column;
    };
    const bytes blur = e.of_each([&](auto x, auto y) {
      int sum = 0;
      for (int j = -3; j <= 3; ++j)
        for (int i = -3; i <= 3; ++i)
          sum += example::weight(j) * example::weight(i) * e.at(e.grey, taken(x, i), y + j);
      return sum / 256;
    });
    const auto edges = [&](const bytes& from) {
      return e.of_each([&](auto x, auto y) {
        const auto at = [&](int i, int j) { return e.at(from, taken(x, i), y + j); };
        const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
        const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
        return example::edge(gx, gy);
      });
    };
    const std::string says = ", a lane takes the four columns on the left " + std::string(l.says);
    e.says(e.edges_of(blur), "in the blur" + says);
    e.says(edges(e.blurred), "in the edge stage" + says);
    e.says(edges(blur), "in every stage" + says);
  }
}

TEST_CASE("offsets of both stages are named together") {
  const example e(97, 60);
  const bytes off = e.of_each([&](auto x, auto y) {
    int sum = 0;
    for (int j = -3; j <= 3; ++j)
      for (int i = -3; i <= 3; ++i)
        sum += example::weight(j) * example::weight(i) * e.at(e.grey, x + i + 1, y + j);
    return sum / 256;
  });
  e.says(e.of_each([&](auto x, auto y) {
    const auto at = [&](int i, int j) { return e.at(off, x + i + 1, y + j + 1); };
    const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
    const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
    return example::edge(gx, gy);
  }),
         "begin at column x - 2 and row y - 3, not at x - 3 and y - 3: where does its tile begin? "
         "And the edge stage's 3 x 3 pixels begin at column x and row y");
  e.says(e.edges_of(off), "the blur's 7 x 7 pixels begin at column x - 2 and row y - 3");
}

const picture_problem& takes_pictures() {
  const auto* const lab = dynamic_cast<const picture_problem*>(&problem_under_test());
  REQUIRE(lab != nullptr);
  return *lab;
}

TEST_CASE("a mistake in the grey stage is named if it leaves exactly this result") {
  // The first size that is checked, and a seed that is not 7.
  const example first(97, 60), other(97, 60, 1);
  const auto says = [&](auto value, const char* phrase) {
    const auto of_bytes = [&](const unsigned char* p) -> int {
      return static_cast<int>(value(float(p[0]), float(p[1]), float(p[2])));
    };
    for (const example* e : {&first, &other}) {
      e->says(e->edges_of(e->blurred_from(e->grey_by(of_bytes))), phrase);
      CHECK(e->grey_by(of_bytes) != e->grey);
    }
  };
  constexpr float red = 0.298839f, green = 0.586811f, blue = 0.114350f;
  const auto contract = [&](float r, float g, float b) {
    return std::fmaf(b, blue, std::fmaf(r, red, g * green));
  };
  says([&](float r, float g, float b) { return contract(b, g, r); }, "exchanges red and blue");
  says([&](float r, float g, float b) { return contract(g, r, b); }, "exchanges two colours");
  says([&](float r, float g, float b) { return contract(r, b, g); }, "exchanges two colours");
  says([&](float r, float g, float b) { return contract(r, g, b) + 0.5f; },
       "the grey stage rounds to the nearest integer");

  const char* const order = "the grey stage adds the colours in another order";
  says([&](float r, float g, float b) { return std::fmaf(b, blue, std::fmaf(g, green, r * red)); },
       order);
  says([&](float r, float g, float b) { return std::fmaf(g, green, std::fmaf(b, blue, r * red)); },
       order);
  says([&](float r, float g, float b) { return std::fmaf(r, red, std::fmaf(b, blue, g * green)); },
       order);
  says([&](float r, float g, float b) { return std::fmaf(g, green, std::fmaf(r, red, b * blue)); },
       order);
  says([&](float r, float g, float b) { return std::fmaf(r, red, std::fmaf(g, green, b * blue)); },
       order);
  const char* const products = "the grey stage rounds each product before it adds it";
  const auto added = [](float a, float b, float c) {
    volatile float sum = a + b;  // no fmaf, on any machine
    return sum + c;
  };
  const auto product = [](float a, float b) {
    volatile float rounded = a * b;
    return float(rounded);
  };
  says([&](float r, float g,
           float b) { return added(product(r, red), product(g, green), product(b, blue)); },
       products);
  says([&](float r, float g,
           float b) { return added(product(g, green), product(b, blue), product(r, red)); },
       products);
  says([&](float r, float g,
           float b) { return added(product(r, red), product(b, blue), product(g, green)); },
       products);

  const char* const doubles = "the grey stage computes with doubles";
  says([](double r, double g, double b) { return 0.298839 * r + 0.586811 * g + 0.11435 * b; },
       doubles);
  says([](double r, double g,
          double b) { return std::fma(b, 0.11435, std::fma(r, 0.298839, g * 0.586811)); },
       doubles);
  says([](double r, double g,
          double b) { return double{red} * r + double{green} * g + double{blue} * b; },
       doubles);
  says([](double r, double g,
          double b) { return static_cast<float>(0.298839 * r + 0.586811 * g + 0.11435 * b); },
       doubles);
  says([&](float r, float g, float b) { return 255 * contract(r / 255, g / 255, b / 255); },
       "the grey stage divides the colours by 255");

  const char* const weights = "the grey stage has other weights";
  says([](float r, float g,
          float b) { return std::fmaf(b, 0.114f, std::fmaf(r, 0.299f, g * 0.587f)); },
       weights);
  says([](float r, float g, float b) { return 0.2126f * r + 0.7152f * g + 0.0722f * b; }, weights);
  says([](int r, int g, int b) { return (r + g + b) / 3; }, weights);
  says([](int r, int g, int b) { return (30 * r + 59 * g + 11 * b) / 100; }, weights);
  says([](int r, int g, int b) { return (299 * r + 587 * g + 114 * b) / 1000; }, weights);
  says([](int r, int g, int b) { return (77 * r + 150 * g + 29 * b) >> 8; }, weights);
  says([](float r, float g, float b) { return int(r * red) + int(g * green) + int(b * blue); },
       "the grey stage truncates each product");
  says([](int r, int g, int b) { return (2989 * r + 5868 * g + 1143 * b) / 10000; },
       "does a stage round differently from the contract");
}

TEST_CASE("a mistake in the blur is named if it leaves exactly this result") {
  const example e(70, 50);
  const auto w = example::weight;
  const auto right = [&](int value, int j, int i) { return w(j) * w(i) * value; };
  const auto shift = [](int sum) { return sum >> 8; };
  const auto says = [&](const auto& term, const auto& last, const char* phrase) {
    e.says(e.edges_of(e.blurred_by(e.grey, term, last)), phrase);
  };
  says(
      right, [](int sum) { return (sum + 128) >> 8; }, "the blur rounds to the nearest integer");
  says(
      right, [](int sum) { return sum / 49; }, "the blur divides by 49");
  says([](int value, int, int) { return value; }, [](int sum) { return sum / 49; },
       "the blur gives all 49 pixels the same weight");
  says([&](int value, int, int i) { return w(i) * value; }, [](int sum) { return sum / 112; },
       "the blur weights the columns, but not the rows");
  says([&](int value, int j, int i) { return right(value < 128 ? value : value - 256, j, i); },
       shift, "takes grey values from 128 on as negative");
  const auto without = [&](auto is_left_out, const char* phrase) {
    says([&](int value, int j, int i) { return is_left_out(j, i) ? 0 : right(value, j, i); }, shift,
         phrase);
  };
  without([](int j, int) { return j == -3; }, "leaves out the first row");
  without([](int j, int) { return j == 3; }, "leaves out the last row");
  without([](int, int i) { return i == -3; }, "leaves out the first column");
  without([](int, int i) { return i == 3; }, "leaves out the last column");
  const auto moved = [&](int rows, int columns, const char* phrase) {
    says([&](int value, int j, int i) { return w(j + rows) * w(i + columns) * value; }, shift,
         phrase);
  };
  moved(1, 0, "the weights of the 7 rows are 2 3 4 3 2 1 0");
  moved(-1, 0, "the weights of the 7 rows are 0 1 2 3 4 3 2");
  moved(0, 1, "the weights of the 7 columns are 2 3 4 3 2 1 0");
  moved(0, -1, "the weights of the 7 columns are 0 1 2 3 4 3 2");
  e.says(e.edges_of(e.of_each([&](auto x, auto y) {
    int sum = 0;
    for (int j = -3; j <= 3; ++j) {
      int row = 0;
      for (int i = -3; i <= 3; ++i) row += w(i) * e.at(e.grey, x + i, y + j);
      sum += w(j) * (row & 255);
    }
    return sum >> 8;
  })),
         "only the lowest 8 bits of a row's sum");
}

TEST_CASE("a wrong weight, sum or place of the blur is named") {
  const example e(70, 50);
  const auto w = example::weight;
  const auto shift = [](int sum) { return sum >> 8; };
  const auto says = [&](const auto& term, const auto& last, const char* phrase) {
    e.says(e.edges_of(e.blurred_by(e.grey, term, last)), phrase);
  };
  const auto right = [&](int value, int j, int i) { return w(j) * w(i) * value; };
  says(
      right, [](int sum) { return sum / 255; }, "the blur divides by 255");
  says(
      right, [](int sum) { return sum >> 9; }, "the blur divides by 512");
  const auto wrong = [&](int at) { return w(at) + (at == 2); };
  says([&](int value, int j, int i) { return wrong(j) * w(i) * value; }, shift,
       "the blur's weights of the 7 rows are 1 2 3 4 3 3 1");
  says([&](int value, int j, int i) { return w(j) * wrong(i) * value; }, shift,
       "the blur's weights of the 7 columns are 1 2 3 4 3 3 1");
  says([&](int value, int j, int i) { return wrong(j) * wrong(i) * value; }, shift,
       "the blur's weights of the 7 rows and columns are 1 2 3 4 3 3 1; the contract's are");
  const auto begins = [&](int columns, int rows, const char* phrase) {
    e.says(e.edges_of(e.of_each([&](auto x, auto y) {
      int sum = 0;
      for (int j = -3; j <= 3; ++j)
        for (int i = -3; i <= 3; ++i)
          sum += w(j) * w(i) * e.at(e.grey, x + i + columns, y + j + rows);
      return sum >> 8;
    })),
           phrase);
  };
  begins(1, 0, "begin at column x - 2 and row y - 3, not at x - 3 and y - 3");
  begins(0, -1, "begin at column x - 3 and row y - 4");
  begins(3, 3, "begin at column x and row y,");
}

TEST_CASE("a mistake in the edge stage is named if it leaves exactly this result") {
  const example e(70, 50);
  const auto says = [&](const auto& length, const char* phrase) {
    e.says(e.edges_of(e.blurred, length), phrase);
  };
  const auto root = [](int gx, int gy) {
    return std::sqrt(static_cast<double>(gx * gx + gy * gy));
  };
  says([&](int gx, int gy) { return static_cast<int>(root(gx, gy)); },
       "keeps the lowest 8 bits of a length above 255");
  says([&](int gx, int gy) { return std::min(255, static_cast<int>(root(gx, gy) + 0.5)); },
       "the edge stage rounds the root");
  says([](int gx, int gy) { return std::min(255, std::abs(gx) + std::abs(gy)); },
       "the edge stage adds |gx| and |gy|");
  says([](int gx, int) { return std::min(255, std::abs(gx)); }, "the edge stage uses only gx");
  says([](int, int gy) { return std::min(255, std::abs(gy)); }, "the edge stage uses only gy");
  says([](int gx, int gy) { return std::min(255, gx * gx + gy * gy); }, "does not take the root");
  for (const int middle : {0, 1}) {
    e.says(e.of_each([&](auto x, auto y) {
      const auto at = [&](int dx, int dy) { return e.at(e.blurred, x + dx, y + dy); };
      const int gx =
          at(1, -1) + middle * at(1, 0) + at(1, 1) - at(-1, -1) - middle * at(-1, 0) - at(-1, 1);
      const int gy =
          at(-1, 1) + middle * at(0, 1) + at(1, 1) - at(-1, -1) - middle * at(0, -1) - at(1, -1);
      return std::min(255, static_cast<int>(root(gx, gy)));
    }),
           middle == 0 ? "a column or a row by 1 0 1" : "a column or a row by 1 1 1");
  }
  says([](int gx, int) { return example::edge(gx, gx); }, "uses gx in place of gy");
  says([](int, int gy) { return example::edge(gy, gy); }, "uses gy in place of gx");
}

TEST_CASE("wrong weights, places and types of the gradients are named") {
  const example e(70, 50);
  using weights = std::array<int, 9>;
  const weights x = {-1, 0, 1, -2, 0, 2, -1, 0, 1}, y = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
  const auto says = [&](const weights& of_x, const weights& of_y, const char* phrase) {
    e.says(e.of_each([&](auto column, auto row) {
      int gx = 0, gy = 0;
      for (int k = 0; k < 9; ++k) {
        gx += of_x[k] * e.at(e.blurred, column + k % 3 - 1, row + k / 3 - 1);
        gy += of_y[k] * e.at(e.blurred, column + k % 3 - 1, row + k / 3 - 1);
      }
      return example::edge(gx, gy);
    }),
           phrase);
  };
  says({-2, 0, 2, -1, 0, 1, -1, 0, 1}, y, "the edge stage's gx weights its three rows by 2 1 1");
  says(x, {-1, -1, -2, 0, 0, 0, 1, 1, 2}, "gy weights its three columns by 1 1 2, but Sobel's");
  says(x, {1, -2, -1, 0, 0, 0, 1, 2, 1}, "gy takes pixel (x - 1, y - 1) times 1, not times -1");
  says({-1, 0, 1, -2, 0, 2, -1, 1, 0}, y, "takes pixel (x, y + 1) where pixel (x + 1, y + 1) bel");
  const auto in_bytes = [](int gx, int gy) {
    return example::edge(static_cast<unsigned char>(gx), static_cast<unsigned char>(gy));
  };
  e.says(e.edges_of(e.blurred, in_bytes), "keeps gx and gy in an unsigned char");
}

TEST_CASE("rows and columns of the blurred picture that a thread confuses are named") {
  const example e(70, 50);
  const auto edges_if = [&](const auto& value) { return e.edges_of(e.of_each(value)); };
  e.says(edges_if(
             [&](auto x, auto y) { return e.at(e.blurred, x, y / 16 * 16 + y % 16 / 4 + y % 4); }),
         "the blurred picture's rows 0, 1, 2, 3, 4, 5, 6, 7 hold the blurred rows 0, 1, 2, 3, 1, "
         "2, 3, 4: does a thread");
  e.says(edges_if([&](auto x, auto y) {
           return e.at(e.blurred, x / 16 * 16 + x % 4 * 4 + x % 16 / 4, y);
         }),
         "the blurred picture's columns 0, 1, 2, 3, 4, 5, 6, 7 hold the blurred columns 0, 4, 8, "
         "12, 1, 5, 9, 13: does a thread");
  int sum = 0;
  e.says(e.edges_of(e.of_each([&](auto x, auto y) {
    sum = 0;
    for (auto row = y / 4 * 4; row <= y; ++row)
      for (int j = -3; j <= 3; ++j)
        for (int i = -3; i <= 3; ++i)
          sum += example::weight(j) * example::weight(i) * e.at(e.grey, x + i, row + j);
    return sum >> 8;
  })),
         "the first of every 4 rows is right, and each of the next adds its sum to the one before");
}

TEST_CASE("further pictures show the stage of a mistake") {
  // The explanation of a program that computes result(stages of the picture).
  const auto explained = [](const auto& result) {
    const example e(70, 50);
    const auto run = [&](const problem_call& call) -> std::optional<problem::results> {
      const bytes out = result(example(call));
      const auto all = std::as_bytes(std::span(out));
      return problem::results{{all.begin(), all.end()}};
    };
    return e.lab.explain(e.call, *run(e.call), run);
  };
  CHECK(explained([](const example& e) {
          return e.edges_of(
              e.blurred_from(e.grey_by([](const unsigned char* p) { return (p[0] + p[2]) / 2; })));
        }) == "pictures that have no colours are right: look at the grey stage");
  CHECK(explained([](const example& e) {
          return e.edges_of(
              e.of_each([&](auto x, auto y) { return e.at(e.blurred, x, y) + (y % 8 == 4); }));
        })
            .starts_with("a picture of one grey value has edges inside, in rows 5, 11, 13, 19, 21, "
                         "27, ...: what does"));
  CHECK(explained([](const example& e) {
          return e.edges_of(e.blurred, [](int gx, int gy) { return example::edge(gx + 9, gy); });
        }).find("at every pixel: the weights of gx, or those of gy") != std::string::npos);
  CHECK(explained([](const example& e) {
          return e.edges_of(e.blurred, [](int gx, int gy) { return example::edge(gx, gy / 3); });
        }).starts_with("in a picture that grows by 1 per row, out["));
  const auto blurs_with = [&](const auto& weight_at) {
    return explained([&](const example& e) {
      return e.edges_of(e.blurred_by(
          e.grey, [&](int value, int j, int i) { return weight_at(j, i) * value; },
          [](int sum) { return sum / 256; }));
    });
  };
  CHECK(blurs_with([](int j, int i) { return i == 0 ? 16 * example::weight(j) : 0; })
            .find("wrong if a picture changes along x, and right if it changes only along y: which "
                  "column") != std::string::npos);
  CHECK(explained([](const example& e) {
          return e.edges_of(e.of_each([&](auto x, auto y) {
            int sum = 0;
            for (int j = -3; j <= 3; ++j)
              for (int i = -3; i <= 3; ++i)
                sum += example::weight(j) * example::weight(i) * e.at(e.grey, x + i, y + i);
            return sum / 256;
          }));
        }).find("changes both along x and along y: is the column") != std::string::npos);
  CHECK(explained([](const example& e) {
          return e.edges_of(
              e.of_each([&](auto x, auto y) { return e.at(e.blurred, x, y) + y % 9 * y % 7; }));
        }).find("inside, ") != std::string::npos);
}

TEST_CASE("exchanged sides are named, although the grid leaves out some pixels") {
  const example e(70, 50);
  // What a stage stores if it mistakes the height for the width, and the grid is for 70 x 50.
  const auto exchanged = [&](auto stage) {
    example turned = e;
    std::swap(turned.width, turned.height);
    bytes found = stage(turned);
    std::fill(found.begin() + 52 * 50, found.end(), 0xa5);
    return found;
  };
  e.says(e.edges_of(exchanged([](const example& of) { return of.blurred_from(of.grey); })),
         "the blur has width and height exchanged");
  e.says(exchanged([](const example& of) { return of.edges_of(of.blurred); }),
         "the edge stage has width and height exchanged");
}

TEST_CASE("a part of a picture that no thread wrote is named with its stage") {
  const example e(70, 50);
  const auto without = [&](const bytes& from, std::int64_t column, std::int64_t row) {
    return e.of_each(
        [&](auto x, auto y) { return x >= column || y >= row ? 0xa5 : e.at(from, x, y); });
  };
  const auto from_grey = [&](const bytes& grey) { return e.edges_of(e.blurred_from(grey)); };
  e.says(without(e.right, 64, 48),
         "the result holds 165 in all columns from 64 on and all rows "
         "from 48 on, as if no thread wrote them");
  e.says(without(e.right, 32, 50), "the result holds 165 in all columns from 32 on, as");
  e.says(e.edges_of(without(e.blurred, 64, 50)),
         "the blurred picture holds 165 in all columns from 64 on, as");
  e.says(e.edges_of(without(e.blurred, 70, 48)),
         "the blurred picture holds 165 in all rows from 48 on, as");
  e.says(from_grey(without(e.grey, 64, 50)),
         "the grey picture holds 165 in all columns from 64 on, as");
  e.says(from_grey(without(e.grey, 64, 48)),
         "the grey picture holds 165 in all columns from 64 on and all rows from 48 on, as");
}

TEST_CASE("a picture of one value has edges only at the border") {
  const example e(70, 50);
  e.says(bytes(3500, 0), "every pixel is 0, as if the blurred picture were 0 everywhere");
  e.says(e.edges_of(bytes(3500, 0xa5)), "as if the blurred picture had the same value everywhere");
  e.says(e.edges_of(e.blurred_from(bytes(3500, 0xa5))),
         "as if the grey picture had the same value everywhere");
}

TEST_CASE("other differences are described by their places") {
  const example e(130, 50);
  const auto wrong_where = [&](auto is_wrong) {
    return e.of_each(
        [&](auto x, auto y) { return e.at(e.right, x, y) ^ (is_wrong(x, y) ? 128 : 0); });
  };
  e.says(wrong_where([](auto x, auto) { return x >= 128; }),
         "all at the right border: does every thread");
  e.says(wrong_where([](auto, auto y) { return y >= 48; }),
         "all at the lower border: does every thread");
  e.says(wrong_where([](auto x, auto y) { return x >= 128 || y >= 48; }),
         "all within 4 of the picture's border: do pixels outside");
  e.says(wrong_where([](auto x, auto) { return x % 32 == 31; }),
         "all within 4 columns of a multiple of 32");
  e.says(wrong_where([](auto, auto y) { return y % 16 == 1; }),
         "all within 4 rows of a multiple of 16");
  e.says(wrong_where([](auto x, auto y) { return x % 32 == 20 && y == 20; }), "in rows 20 to 20");
}

TEST_CASE("a picture of your own is a call like any other, including its fourth byte") {
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

TEST_CASE("the stages are those of the contract, and the last one is the result") {
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

TEST_CASE("an output of the wrong size is refused") {
  const example e(8, 8);
  CHECK(e.lab.check(e.call, {}).has_value());
  CHECK(e.verdict(bytes(63)) != "");
}

TEST_CASE("16_approximate_sqrt: the approximate root of s + 1/2 is exact once it is truncated") {
  const double error = std::ldexp(1.0, -22);  // twice what PTX guarantees: 2^-23 of the root
  for (int s = 0; s <= 2 * 1020 * 1020; ++s) {
    const double root = std::sqrt(s + 0.5);
    const int right = std::min(255, static_cast<int>(std::sqrt(static_cast<double>(s))));
    if (std::min(255, static_cast<int>(root * (1 - error))) != right ||
        std::min(255, static_cast<int>(root * (1 + error))) != right) {
      FAIL("s = " << s);
    }
  }
}

TEST_CASE("17_no_conversions: tiny floats and larger weights give the same grey for every colour") {
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

TEST_CASE("17_no_conversions: the lowest byte of a sum that is rounded down is the whole part") {
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
