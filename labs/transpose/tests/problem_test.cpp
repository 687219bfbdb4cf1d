// Tests the transpose lab's inputs, its comparison, and its messages about wrong results.
#include "common/lab/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "labs/tests/problem_tests.hpp"

namespace transpose_problem_test {

using namespace stepwise;

struct example {
  example(std::int64_t height, std::int64_t width, std::uint64_t seed = 7)
      : lab(problem_under_test()),
        call(lab.make_call({height, width}, seed)),
        rows(height),
        cols(width),
        in(height * width),
        garbage(height * width) {
    std::memcpy(in.data(), call.buffers[0].data.data(), in.size() * sizeof(float));
    std::memset(garbage.data(), 0xa5, garbage.size() * sizeof(float));
  }

  // `out` filled with garbage, except that every element of `in` is stored at `index`, if that is
  // inside.
  template <class Index>
  std::vector<float> moved(Index index) const {
    std::vector<float> out = garbage;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t col = 0; col < cols; ++col) {
        const std::int64_t to = index(row, col);
        if (to >= 0 && to < rows * cols) out[to] = in[row * cols + col];
      }
    }
    return out;
  }
  std::vector<float> right() const {
    return moved([&](auto row, auto col) { return col * rows + row; });
  }

  // The message of check() about this result, or "" if the result is right.
  std::string verdict(const std::vector<float>& out) const {
    const auto bytes = std::as_bytes(std::span(out));
    return lab.check(call, std::span(&bytes, 1)).value_or("");
  }

  void says(const std::vector<float>& out, const std::string& phrase) const {
    const std::string text = verdict(out);
    CAPTURE(text);
    CHECK(text.find(phrase) != std::string::npos);
  }

  const problem& lab;
  problem_call call;
  std::int64_t rows, cols;
  std::vector<float> in, garbage;
};

TEST_CASE("a call has the contract's buffers and scalars, and its size and seed decide its bytes") {
  const example a(31, 33), again(31, 33), other(31, 33, 8), turned(33, 31);
  REQUIRE(a.call.buffers.size() == 2);
  CHECK(a.call.label == "rows = 31, cols = 33, seed 7");
  CHECK(a.call.scalars == std::vector<std::int64_t>{31, 33});
  CHECK(a.call.buffers[0].role == runner::buffer_role::input);
  CHECK(a.call.buffers[0].bytes == 4 * 31 * 33);
  CHECK(a.call.buffers[1].role == runner::buffer_role::output);
  CHECK(a.call.buffers[1].bytes == 4 * 31 * 33);
  CHECK(a.in == again.in);
  CHECK(a.in != other.in);
  CHECK(a.in[0] != turned.in[0]);
}

TEST_CASE("an input's elements are finite, and no two have the same bits") {
  const example e(1000, 1003);
  CHECK(std::all_of(e.in.begin(), e.in.end(), [](float value) { return std::isfinite(value); }));
  std::vector<std::uint32_t> bits(e.in.size());
  std::memcpy(bits.data(), e.in.data(), bits.size() * sizeof bits[0]);
  std::sort(bits.begin(), bits.end());
  CHECK(std::adjacent_find(bits.begin(), bits.end()) == bits.end());
}

TEST_CASE("inputs have the same bytes on every machine, whether one core or several make them") {
  const problem& lab = problem_under_test();
  const auto hash = [&](std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    return hash_of(lab.make_call({rows, cols}, seed).buffers[0].data);
  };
  // Computed one element after the other. The last two are large enough for several cores.
  CHECK(hash(3, 2, 7) == 0xdcd07362b9f1f250);
  CHECK(hash(257, 1021, 7) == 0x8a809f1074b545bf);
  CHECK(hash(4200, 4099, 7) == 0x0ee45000aca94726);
  CHECK(hash(4200, 4099, 1) == 0xeba581b89795d40e);
}

TEST_CASE("sizes outside the contract are refused") {
  const problem& lab = problem_under_test();
  for (const problem::size& n : std::vector<problem::size>{{},
                                                           {4},
                                                           {0, 1},
                                                           {1, 0},
                                                           {-1, -1},
                                                           {1, 1000001},
                                                           {1000001, 1},
                                                           {32768, 65536},
                                                           {1, 1, 1}}) {
    CHECK_THROWS_AS(lab.make_call(n, 1), std::invalid_argument);
    CHECK_THROWS_AS(lab.work(n), std::invalid_argument);
  }
  CHECK_NOTHROW(lab.work({32768, 65535}));
}

TEST_CASE("work is one read and one write per element") {
  const problem_work work = problem_under_test().work({1000, 30});
  CHECK(work.bytes == 240000);
  CHECK(work.operations == 0);
}

TEST_CASE("the transpose passes, and no result that differs from it in one bit") {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 7}, {7, 1}, {33, 65}, {64, 32}}) {
    const example e(rows, cols);
    std::vector<float> out = e.right();
    CHECK(e.verdict(out) == "");
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &out[i], sizeof bits);
      bits ^= 1u << (i % 32);
      std::memcpy(&out[i], &bits, sizeof bits);
      CHECK(e.verdict(out) != "");
      out[i] = e.in[i % rows * cols + i / rows];
    }
    CHECK(e.verdict(out) == "");
  }
}

TEST_CASE("one wrong element in a large matrix is found, wherever it is") {
  const example e(3001, 3003);
  std::vector<float> out = e.right();
  CHECK(e.verdict(out) == "");
  for (const std::size_t i : {std::size_t{0}, out.size() / 2 - 1, out.size() / 2, out.size() - 1}) {
    const float right = std::exchange(out[i], 0.5f);
    CHECK(e.verdict(out).find("1 of 9012003 elements is wrong") != std::string::npos);
    out[i] = right;
  }
}

TEST_CASE("a message has the expected and the found value, and their place") {
  const example e(3, 2);
  std::vector<float> out = e.right();
  out[1 * 3 + 2] = e.in[0];
  const std::string text = e.verdict(out);
  CAPTURE(text);
  CHECK(text.starts_with("transpose: out[1][2] = "));
  CHECK(text.find(", expected in[2][1] = ") != std::string::npos);
  CHECK(text.find("(rows = 3, cols = 2, seed 7)") != std::string::npos);
  CHECK(text.ends_with("1 of 6 elements is wrong, in no known pattern, and this one is in[0][0]"));
  out[5] = 1.5f;
  CHECK(e.verdict(out).ends_with(", in no known pattern, and in holds no such number"));
}

TEST_CASE("common mistakes are recognised by the result that they produce") {
  const example tall(70, 50), wide(50, 70), square(64, 64);
  for (const example* e : {&tall, &wide, &square}) {
    const auto rows = e->rows, cols = e->cols;
    e->says(e->garbage, "nothing was written to out");
    e->says(e->moved([&](auto row, auto col) { return row * cols + col; }), "a copy of in");
    for (const std::int64_t tile : {8, 16, 32}) {
      const std::string every = "every tile of " + std::to_string(tile);
      e->says(e->moved([&](auto row, auto col) {
        const auto to_row = row / tile * tile + col % tile;
        const auto to_col = col / tile * tile + row % tile;
        return to_row < cols && to_col < rows ? to_row * rows + to_col : -1;
      }),
              every);
      e->says(e->moved([&](auto row, auto col) {
        const auto to_row = col / tile * tile + row % tile;
        const auto to_col = row / tile * tile + col % tile;
        return to_row < cols && to_col < rows ? to_row * rows + to_col : -1;
      }),
              every);
    }
  }
  tall.says(tall.moved([&](auto row, auto col) { return col * tall.cols + row; }),
            "out was written as if its rows were `cols` long");
  std::vector<float> misread = wide.right();
  for (std::int64_t i = 0; i < 3500; ++i) misread[i] = wide.in[i % 50 * 50 + i / 50];
  wide.says(misread, "in was read as if its rows were `rows` long");
}

TEST_CASE("a tile per thread is recognised, whatever its other elements contained") {
  const example e(64, 64);
  for (const float stale : {0.0F, e.garbage[0]}) {
    std::vector<float> out = e.right();
    for (std::int64_t i = 0; i < 64 * 64; ++i)
      if (i / 64 % 32 != i % 64 % 32) out[i] = stale;
    e.says(out, "of every 32x32 elements only the diagonal is right");
  }
  e.says(e.moved([](auto row, auto col) { return row * 64 + col; }), "this is a copy of in");
}

TEST_CASE("a row length that is wrong is named, and where it is that of float4s") {
  const example e(9, 7);
  const auto read_with = [&](std::int64_t length) {
    std::vector<float> out;
    for (std::int64_t col = 0; col < e.cols; ++col)
      for (std::int64_t row = 0; row < e.rows; ++row) out.push_back(e.in[row * length + col]);
    return out;
  };
  e.says(read_with(4),
         "in was read as if its rows had 4 elements; they have 7: a row of float4s must be");
  e.says(read_with(6), "in was read as if its rows had 6 elements; they have 7: check the factor");
}

TEST_CASE("only a diagonal, and blocks that begin one row apart, are recognised") {
  const example e(64, 64);
  e.says(e.moved([](auto row, auto col) { return row == col ? row * 65 : -1; }),
         "only the diagonal was written - do row and col both use .x");
  e.says(e.moved([](auto row, auto col) { return col < 33 ? col * 64 + row : -1; }),
         "33 is 32 and 1 for each other block - is blockIdx multiplied");
}

TEST_CASE("missing elements are described by their place") {
  const example e(50, 70);
  const auto without = [&](auto leaves_out) {
    return e.moved([&](auto row, auto col) { return leaves_out(row, col) ? -1 : col * 50 + row; });
  };
  e.says(without([](auto, auto col) { return col >= 64; }),
         "300 of 3500 elements were not written, all of out from row 64 on");
  e.says(without([](auto row, auto) { return row >= 48; }),
         "140 of 3500 elements were not written, all of out from column 48 on");
  e.says(without([](auto row, auto col) { return row >= 48 || col >= 64; }),
         "all outside its first 64 rows and 48 columns - what becomes of the ragged edge");
  e.says(without([](auto row, auto col) { return row == 7 && col == 9; }),
         "1 of 3500 elements was not written");
}

TEST_CASE("missing rows and columns of tiles are described by their distances") {
  const example e(64, 64);
  const auto written = [&](auto is_written) {
    return e.moved([&](auto row, auto col) { return is_written(col, row) ? col * 64 + row : -1; });
  };
  e.says(written([](auto row, auto) { return row % 32 < 8; }),
         "only the first 8 of every 32 rows of out were written - does a block have a thread");
  e.says(written([](auto row, auto col) { return row % 8 < 2 && col % 32 < 2; }),
         "only the first 2 of every 8 rows and the first 2 of every 32 columns of out were "
         "written - are blocks and threads swapped in the launch");
  e.says(written([](auto row, auto col) { return row < 3 && col % 16 < 4; }),
         "only the first 3 rows and the first 4 of every 16 columns of out were written - does a");
  // Some of the written elements came from unwritten shared memory.
  std::vector<float> out = written([](auto row, auto col) { return row % 8 < 2 && col % 32 < 2; });
  std::memset(&out[8 * 64], 0xff, sizeof(float));
  e.says(out, "only the first 2 of every 8 rows");
}

TEST_CASE("an out that ends where `in` ends was stored with the load's condition") {
  const example tall(3, 2), wide(2, 3), whole(8, 4);
  for (const example* e : {&tall, &wide, &whole}) {
    const std::vector<float> out = e->moved([&](auto row, auto col) {
      return row < e->cols && col < e->rows ? col * e->rows + row : -1;
    });
    const std::string asks =
        e == &whole ? "does the grid cover rows of in beyond" : "because its load is outside in";
    e->says(out, asks);
    e->says(out, e == &wide ? "from row 2 on" : "all of out from column");
  }
  tall.says(tall.moved([&](auto row, auto col) { return row < 2 ? col * 3 + row : -1; }),
            "in has only 2 columns");
  // One missing column of five does not suggest the load's condition.
  const example other(5, 2);
  other.says(other.moved([&](auto row, auto col) { return row < 3 ? col * 5 + row : -1; }),
             "does the grid cover rows of in");
}

TEST_CASE("elements read from the tile too early are distinguished from missing elements") {
  const auto with_unwritten = [](const example& e, auto is_unwritten) {
    std::vector<float> out = e.right();
    for (std::int64_t i = 0; i < e.rows * e.cols; ++i)
      if (is_unwritten(i / e.rows, i % e.rows)) std::memset(&out[i], 0xff, sizeof out[i]);
    return out;
  };
  const example tall(3, 2), square(64, 64);
  tall.says(with_unwritten(tall, [](auto, auto col) { return col == 2; }),
            "2 of 6 elements are 0xffffffff");
  tall.says(with_unwritten(tall, [](auto, auto col) { return col == 2; }),
            "does the load compare its row with rows");
  square.says(with_unwritten(square, [](auto row, auto col) { return row < col; }),
              "does every thread reach a barrier before the tile is read?");
}

TEST_CASE("if nothing was written to a small matrix, a count may have been divided by 4") {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 1000}, {1000, 3}}) {
    const example e(rows, cols);
    e.says(e.garbage, "also where rows / 4 or cols / 4 is 0?");
  }
  const example e(4, 4);
  CHECK(e.verdict(e.garbage).ends_with("nothing was written to out"));
}

TEST_CASE("elements that passed through an int are recognised") {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {33, 65}}) {
    const example e(rows, cols);
    std::vector<float> out = e.right();
    for (float& value : out) {
      const double whole = std::trunc(static_cast<double>(value));
      value = static_cast<float>(std::clamp(whole, -2147483648.0, 2147483647.0));
    }
    e.says(out, "these are the elements of in, cut to whole numbers");
    e.says(out, "does an element pass through an int?");
    CHECK((e.verdict(out).find(", or 0 was stored") != std::string::npos) == (rows == 1));
    out[0] = 0.5F;
    CHECK(e.verdict(out).find("whole numbers") == std::string::npos);
  }
}

TEST_CASE("rows and cols that are swapped in the launch are recognised") {
  for (const auto& [rows, cols] : {std::pair{3, 2}, {50, 70}, {33, 31}}) {
    const example e(rows, cols);
    std::vector<float> out(e.in.size());
    for (std::int64_t row = 0; row < cols; ++row)
      for (std::int64_t col = 0; col < rows; ++col) out[col * cols + row] = e.in[row * rows + col];
    e.says(out, "does the launch pass them in the right order?");
  }
}

TEST_CASE("one index that is wrong is distinguished from a tile in another order") {
  const example e(64, 64), tall(1000, 1);
  const auto in_row = [&](auto place_of) {
    return e.moved([&](auto row, auto col) { return col * 64 + place_of(row); });
  };
  // The second blocks begin 8 rows of `in` after the first ones, not 32.
  std::vector<float> out = e.right();
  for (std::int64_t i = 0; i < 64; ++i)
    for (std::int64_t k = 32; k < 64; ++k) out[i * 64 + k] = e.right()[i * 64 + k - 24];
  e.says(out, "every element is in its row of out, but not in its column, and some are lost");
  e.says(in_row([](auto row) { return row ^ 1; }), "in another order: is the tile read with");
  out = tall.right();
  for (std::int64_t i = 256; i < 1000; ++i) out[i] = out[i % 256];
  tall.says(out, "column 256 of out is column 0 again, and so on: is an index a char");
}

TEST_CASE("NaN is never right") {
  const example e(5, 4);
  std::vector<float> out = e.right();
  out[3] = std::numeric_limits<float>::quiet_NaN();
  e.says(out, "1 of 20 elements is NaN");
}

TEST_CASE("an output of another size is refused") {
  const example e(8, 8);
  CHECK(e.lab.check(e.call, {}).has_value());
  CHECK(e.verdict(std::vector<float>(63)) != "");
}

}  // namespace transpose_problem_test
