// The transpose lab's inputs, reference and comparison.
//
// idea    No two elements of the input have the same bits, so every element of a wrong result shows
//         where it came from. Elements are moved, not computed, so bits are compared. A NaN equals
//         no expected value, because no input holds one.
// tested  labs/transpose/tests/problem_test.cpp; the mutants of tests/mutants.txt
#include "common/lab/problem.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "common/lab/ceil_div.hpp"
#include "common/lab/in_bands.hpp"
#include "common/lab/random.hpp"
#include "common/lab/whole_blocks.hpp"
#include "labs/transpose/transpose.hpp"

namespace stepwise {
namespace {

using bits = std::uint32_t;  // the bits of a float

// The emulator fills shared memory with these bits before a block starts.
constexpr bits unwritten_shared = 0xffffffff;

// True for one byte, repeated. Such numbers fill memory before a call, and no input holds one.
bool is_filling(bits value) { return value != 0 && value == (value & 0xff) * 0x01010101u; }
bool is_left_as_it_was(bits value) { return is_filling(value) && value != unwritten_shared; }
bool is_finite(bits value) { return (value & 0x7f800000) != 0x7f800000; }
bool is_nan(bits value) { return !is_finite(value) && (value & 0x007fffff) != 0; }

std::string as_float(bits value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(std::bit_cast<float>(value)));
  return text.data();
}

std::string place(const char* array, std::int64_t row, std::int64_t col) {
  return array + ("[" + std::to_string(row)) + "][" + std::to_string(col) + "]";
}

bool is_usable(bits value) { return is_finite(value) && !is_filling(value); }

// The usable number with exactly n usable numbers before it, for n below 2^31. The numbers that
// follow it may be unusable.
constexpr bits nth_usable(std::int64_t n) {
  constexpr std::int64_t step = 0x01010101, infinity = 0x7f800000, after_nans = 0x80000000;
  std::int64_t number = n;
  for (std::int64_t repeated = step; repeated < infinity; repeated += step) {
    if (repeated <= number) ++number;
  }
  if (number >= infinity) number += after_nans - infinity;
  return static_cast<bits>(number);  // n is below 2^31, so no further gap precedes it
}
static_assert(nth_usable(0x01010100) == 0x01010100 && nth_usable(0x01010101) == 0x01010102);
static_assert(nth_usable(0x7f800000 - 128) == 0x7f7fffff);
static_assert(nth_usable(0x7f800000 - 127) == 0x80000000);

// Fills with finite floats, all different. A random permutation of the 32-bit numbers is applied to
// 0, 1, 2, ... and reapplied until the result is usable. Cycles of a permutation never meet, so no
// number comes twice, provided that each start is usable.
void fill_with_distinct_floats(std::span<bits> values, random_stream random) {
  const auto mask = static_cast<bits>(random.next());
  const auto first = static_cast<bits>(random.next()) | 1;
  const auto second = static_cast<bits>(random.next()) | 1;
  in_bands(std::ssize(values), sizeof(bits), [&](std::int64_t begin, std::int64_t end) {
    bits start = nth_usable(begin);
    for (bits& value : values.subspan(begin, end - begin)) {
      while (!is_usable(start)) ++start;
      value = start++;
      do {
        value = (value ^ mask) * first;
        value = (value ^ (value >> 15)) * second;
        value ^= value >> 13;
      } while (!is_usable(value));
    }
  });
}

// A matrix of bits, row-major.
struct matrix {
  std::span<const bits> data;
  std::int64_t rows, cols;
  bits at(std::int64_t row, std::int64_t col) const { return data[row * cols + col]; }
};

bool is_transpose(const matrix& in, const matrix& out) {
  constexpr std::int64_t tile = 32;  // two such tiles fit in the cache, which matters for gigabytes
  std::atomic<bool> is_right = true;
  const auto compare_rows = [&](std::int64_t top) {
    for (std::int64_t left = 0; left < in.cols; left += tile) {
      for (std::int64_t row = top; row < std::min(top + tile, in.rows); ++row) {
        for (std::int64_t col = left; col < std::min(left + tile, in.cols); ++col) {
          if (out.at(col, row) != in.at(row, col)) return false;
        }
      }
    }
    return true;
  };
  in_bands((in.rows + tile - 1) / tile, tile * in.cols * sizeof(bits),
           [&](std::int64_t begin, std::int64_t end) {
             for (std::int64_t i = begin; i < end && is_right; ++i) {
               if (!compare_rows(i * tile)) is_right = false;
             }
           });
  return is_right;
}

// Recognises common mistakes in a wrong result by trying them one by one.
class wrong_result {
 public:
  wrong_result(const matrix& in, const matrix& out) : in_(in), out_(out) {
    for (std::int64_t row = 0; row < out.rows; ++row) {
      for (std::int64_t col = 0; col < out.cols; ++col) {
        const bits found = out.at(row, col);
        if (found == in.at(col, row)) continue;
        if (wrong_++ == 0) {
          first_row_ = row;
          first_col_ = col;
        }
        if (is_left_as_it_was(found)) {
          ++unwritten_;
          unwritten_row_ = std::min(unwritten_row_, row);
          unwritten_col_ = std::min(unwritten_col_, col);
        }
        unwritten_shared_ += found == unwritten_shared;
        nan_ += is_nan(found);
      }
    }
    if (in.data.size() <= most_traced) trace();
  }

  std::string first() const {
    return place("out", first_row_, first_col_) + " = " +
           as_float(out_.at(first_row_, first_col_)) + ", expected " +
           place("in", first_col_, first_row_) + " = " + as_float(in_.at(first_col_, first_row_));
  }

  std::string looks_like() const {
    for (const auto guess :
         {&wrong_result::own_elements_only, &wrong_result::not_written,
          &wrong_result::from_unwritten_tile, &wrong_result::nan, &wrong_result::whole_numbers,
          &wrong_result::one_rule, &wrong_result::where_from}) {
      if (std::string text = (this->*guess)(); !text.empty()) return text;
    }
    return "";
  }

 private:
  static constexpr std::size_t most_traced = 1 << 22;
  static constexpr std::int64_t untouched = -1, not_of_in = -2;

  // For every element of out, finds its origin in `in`.
  void trace() {
    std::unordered_map<bits, std::int64_t> where;
    where.reserve(in_.data.size());
    for (const bits value : in_.data) where.emplace(value, where.size());
    for (const bits value : out_.data) {
      const auto found = where.find(value);
      origins_.push_back(found != where.end()       ? found->second
                         : is_left_as_it_was(value) ? untouched
                                                    : not_of_in);
    }
  }

  std::string of_all(std::size_t count) const {
    return std::to_string(count) + " of " + std::to_string(out_.data.size()) + " elements";
  }

  std::string not_written() const {
    if (unwritten_ == out_.data.size()) {
      const std::string text =
          "these are the bytes that filled out before the call: nothing was written to out";
      const bool less_than_4 = in_.rows < 4 || in_.cols < 4;
      return text + (less_than_4
                         ? " - does a thread reach a store to out, also where rows / 4 or cols / "
                           "4 is 0?"
                         : "");
    }
    if (unwritten_ == 0 || unwritten_ + unwritten_shared_ < wrong_) return "";
    const std::string text = of_all(unwritten_) + (unwritten_ == 1 ? " was" : " were") +
                             " not written",
                      part = part_of_tiles() + tiles_on_diagonal();
    if (!part.empty() || unwritten_shared_ > 0) return part.empty() ? part : text + part;
    const bool low_rows =
        unwritten_ == static_cast<std::size_t>((out_.rows - unwritten_row_) * out_.cols);
    const bool right_cols =
        unwritten_ == static_cast<std::size_t>((out_.cols - unwritten_col_) * out_.rows);
    if (low_rows && unwritten_row_ > 0) {
      return text + ", all of out from row " + std::to_string(unwritten_row_) + " on" +
             beyond("row", unwritten_row_, "column");
    }
    if (right_cols && unwritten_col_ > 0) {
      return text + ", all of out from column " + std::to_string(unwritten_col_) + " on" +
             beyond("column", unwritten_col_, "row");
    }
    return text + corner();
  }

  // Why out may lack all rows (or columns) from the index `first` on. They correspond to columns
  // (or rows) of in.
  std::string beyond(const std::string& line, std::int64_t first,
                     const std::string& line_of_in) const {
    if (first == (line == "row" ? in_.rows : in_.cols) && first % 4 != 0) {  // no edge of a block
      return "; in has only " + std::to_string(first) + " " + line + (first == 1 ? "" : "s") +
             " - does a thread return before the store because its load is outside in, or does "
             "the store have the load's condition?";
    }
    const std::int64_t all = line == "row" ? out_.rows : out_.cols;
    const std::int64_t other = in_.rows + in_.cols - all;
    if (lacks_whole_blocks(first, all)) {
      const std::int64_t side = first & -first;
      return " - does the grid have blocks for the " + line_of_in + "s of in from " +
             std::to_string(first) + " on, and is blockIdx in the index of a " + line_of_in + "?" +
             (all != other && first / side == ceil_div(other, side)
                  ? " There are as many blocks as the other side needs: are x and y swapped?"
                  : "");
    }
    if (const std::int64_t side = side_of_blocks_one_apart(first, all))
      return "; " + std::to_string(first) + " is " + std::to_string(side) +
             " and 1 for each other "
             "block - is blockIdx multiplied by the side of a block in the index of a " +
             line_of_in + "?";
    return " - does the grid cover " + line_of_in +
           "s of in beyond the last whole block, does the kernel use blockIdx.x and .y as the grid "
           "counts them, and does every thread reach its store?";
  }

  // Lines of out (its rows, say) of which the first `written` in every `period` were written.
  struct repeated_lines {
    std::int64_t written = 0, period = 0, all = 0;
    bool has(std::int64_t line) const { return line % period < written; }
    std::string text(const std::string& name) const {
      const std::string first =
          (written > 1 || period >= all ? "the first " : "") + std::to_string(written);
      return period < all ? first + " of every " + std::to_string(period) + " " + name
                          : first + " " + name;
    }
  };

  template <class IsWritten>
  static repeated_lines first_lines(std::int64_t all, IsWritten is_written) {
    repeated_lines lines;
    lines.all = all;
    while (lines.written < all && is_written(lines.written)) ++lines.written;
    lines.period = lines.written;
    while (lines.period < all && !is_written(lines.period)) ++lines.period;
    return lines;
  }

  // Only the first rows and columns of every tile were written.
  std::string part_of_tiles() const {
    const auto is_written = [&](std::int64_t row, std::int64_t col) {
      return !is_left_as_it_was(out_.at(row, col));
    };
    if (!is_written(0, 0)) return "";
    const auto rows = first_lines(out_.rows, [&](std::int64_t row) { return is_written(row, 0); });
    const auto cols = first_lines(out_.cols, [&](std::int64_t col) { return is_written(0, col); });
    const bool rows_repeat = rows.period < rows.all, cols_repeat = cols.period < cols.all;
    if (!rows_repeat && !cols_repeat) return "";
    for (std::int64_t row = 0; row < out_.rows; ++row) {
      for (std::int64_t col = 0; col < out_.cols; ++col) {
        if (is_written(row, col) != (rows.has(row) && cols.has(col))) return "";
      }
    }
    std::string text = rows.written < rows.all ? rows.text("rows") : "";
    if (cols.written < cols.all) text += (text.empty() ? "" : " and ") + cols.text("columns");
    // Is a block's number of threads the number of blocks that the grid should have?
    const std::int64_t tile =
        std::max(rows_repeat ? rows.period : 0, cols_repeat ? cols.period : 0);
    const auto along = [&](std::int64_t side) { return ceil_div(side, tile); };
    const std::pair threads(rows.written, cols.written);
    const bool swapped = threads == std::pair(along(out_.rows), along(out_.cols)) ||
                         threads == std::pair(along(out_.cols), along(out_.rows));
    return ": only " + text + " of out were written - " +
           (swapped
                ? "are blocks and threads swapped in the launch, <<<blocks, threads>>>?"
                : std::string(rows.written == 1 || cols.written == 1
                                  ? "is threadIdx in the index of the row and of the column, and "
                                  : "") +
                      "does a block have a thread for every element of its tile, in x and in y, or "
                      "a loop?");
  }

  // Only the square tiles on the diagonal were written.
  std::string tiles_on_diagonal() const {
    if (out_.rows < 2 || out_.cols < 2) return "";
    std::int64_t tile = 0;
    while (tile < out_.cols && !is_left_as_it_was(out_.at(0, tile))) ++tile;
    if (tile == 0 || tile >= std::min(out_.rows, out_.cols)) return "";
    for (std::int64_t row = 0; row < out_.rows; ++row) {
      for (std::int64_t col = 0; col < out_.cols; ++col) {
        if (is_left_as_it_was(out_.at(row, col)) == (row / tile == col / tile)) return "";
      }
    }
    const std::string side = std::to_string(tile);
    return ": only " + (tile == 1 ? "" : "the tiles of " + side + "x" + side + " on ") +
           "the diagonal " + (tile == 1 ? "was" : "were") +
           " written - do row and col both use .x, or both .y?";
  }

  // Everything outside the top left rectangle [0, row) x [0, col) is missing. row is the first row
  // that is not fully written, and col is where the first row ends.
  std::string corner() const {
    std::int64_t row = 0, col = 0;
    while (col < out_.cols && out_.at(0, col) == in_.at(col, 0)) ++col;
    while (row < out_.rows && out_.at(row, 0) == in_.at(0, row)) ++row;
    const auto inside = static_cast<std::size_t>(row * col);
    if (inside == 0 || out_.data.size() - inside != unwritten_) return "";
    const bool blocks = lacks_whole_blocks(row, out_.rows) || lacks_whole_blocks(col, out_.cols);
    return ": all outside its first " + std::to_string(row) + " rows and " + std::to_string(col) +
           " columns - " +
           (blocks ? "does the grid have a block for every tile, and is blockIdx in the indices?"
                   : "what becomes of the ragged edge, where the last blocks are not full?");
  }

  // The result is right only on the diagonals of tiles, where a thread writes the element that it
  // has read itself. All other elements are not from in.
  std::string own_elements_only() const {
    for (const std::int64_t tile : {64, 32, 16, 8}) {
      if (tile > std::min(out_.rows, out_.cols) || origins_.empty()) continue;
      // A single diagonal is also what row = col leaves, without a tile.
      const bool is_single = 2 * tile > std::min(out_.rows, out_.cols);
      const auto is_as_expected = [&](std::int64_t i) {
        const std::int64_t row = i / out_.cols, col = i % out_.cols;
        return row % tile == col % tile ? origins_[i] == col * in_.cols + row
               : is_single              ? origins_[i] == not_of_in
                                        : origins_[i] < 0;
      };
      std::int64_t i = 0;
      while (i < std::ssize(out_.data) && is_as_expected(i)) ++i;
      if (i < std::ssize(out_.data)) continue;
      const std::string side = std::to_string(tile);
      return "of every " + side + "x" + side +
             " elements only the diagonal is right, which a thread reads and writes itself - "
             "is the tile __shared__, and does a barrier follow the stores to it?";
    }
    return "";
  }

  std::string from_unwritten_tile() const {
    if (unwritten_shared_ == 0) return "";
    return of_all(unwritten_shared_) +
           " are 0xffffffff, which fills the emulator's shared memory before a block starts: they "
           "were read from the tile before they were stored there - " +
           (in_.rows == in_.cols ? "does every thread reach a barrier before the tile is read?"
                                 : "does the load compare its row with rows and its column with "
                                   "cols, and does every "
                                   "thread of the block reach a barrier before the tile is read?");
  }

  std::string nan() const {
    if (nan_ == 0) return "";
    return of_all(nan_) + (nan_ == 1 ? " is" : " are") +
           " NaN, and none of in is: was something computed, or memory read before it was "
           "written?";
  }

  // Converts a finite float to int and back.
  static float through_int(float value) {
    const double whole = std::trunc(static_cast<double>(value));
    return static_cast<float>(std::clamp(whole, -0x1p31, 0x1p31 - 1));
  }

  std::string whole_numbers() const {
    bool all_are_0 = true;
    for (std::int64_t row = 0; row < out_.rows; ++row) {
      for (std::int64_t col = 0; col < out_.cols; ++col) {
        const auto found = std::bit_cast<float>(out_.at(row, col));
        if (found != through_int(std::bit_cast<float>(in_.at(col, row)))) return "";
        all_are_0 &= found == 0;
      }
    }
    const std::string text = "these are the elements of in, cut to whole numbers";
    return text + (all_are_0 ? ", or 0 was stored" : "") + ": does an element pass through an int?";
  }

  // True if the mistake would store in[from_row][from_col] in out[row][col].
  using rule = std::function<bool(std::int64_t row, std::int64_t col, std::int64_t from_row,
                                  std::int64_t from_col)>;

  // True if the rule explains all written elements (at least half of out), and some are wrong.
  bool follows(const rule& moves) const {
    std::size_t written = 0, wrong = 0;
    for (std::size_t i = 0; i < origins_.size(); ++i) {
      const std::int64_t row = i / out_.cols, col = i % out_.cols, from = origins_[i];
      if (from == untouched) continue;
      if (from < 0 || !moves(row, col, from / in_.cols, from % in_.cols)) return false;
      ++written;
      wrong += from != col * in_.cols + row;
    }
    return wrong > 0 && 2 * written >= origins_.size();
  }

  std::string one_rule() const {
    if (follows([&](auto row, auto col, auto from_row, auto from_col) {
          return row * out_.cols + col == from_row * in_.cols + from_col;
        })) {
      return "this is a copy of in: the elements must change places, out[col][row] = in[row][col]";
    }
    if (follows([&](auto row, auto col, auto from_row, auto from_col) {
          return col * in_.rows + row == from_row * in_.cols + from_col;
        })) {
      return "in was read as if its rows were `rows` long; they have `cols` elements";
    }
    if (follows([&](auto row, auto col, auto from_row, auto from_col) {
          return row * out_.cols + col == from_col * in_.cols + from_row;
        })) {
      return "out was written as if its rows were `cols` long; they have `rows` elements";
    }
    if (follows([&](auto row, auto col, auto from_row, auto from_col) {
          const std::int64_t to = row * out_.cols + col, from = from_row * in_.cols + from_col;
          return to % in_.cols == from / in_.rows && to / in_.cols == from % in_.rows;
        })) {
      return "rows and cols are swapped in the indices of both in and out: does the launch pass "
             "them in the right order?";
    }
    if (std::string text = row_length(); !text.empty()) return text;
    for (const std::int64_t tile : {64, 32, 16, 8, 4}) {
      const std::string every =
          "every tile of " + std::to_string(tile) + "x" + std::to_string(tile);
      if (follows([&](auto row, auto col, auto from_row, auto from_col) {
            return row / tile == from_row / tile && col / tile == from_col / tile &&
                   row % tile == from_col % tile && col % tile == from_row % tile;
          })) {
        return every + " is transposed inside, but is where it was in `in`: it must move too";
      }
      if (follows([&](auto row, auto col, auto from_row, auto from_col) {
            return row / tile == from_col / tile && col / tile == from_row / tile &&
                   row % tile == from_row % tile && col % tile == from_col % tile;
          })) {
        return every + " has moved to its place, but is not transposed inside";
      }
      for (std::int64_t part = tile / 2; part > 0; part /= 2) {
        const auto again = [&](std::int64_t line) { return line / tile * tile + line % part; };
        const bool rows = follows([&](auto row, auto col, auto from_row, auto from_col) {
          return from_row == again(col) && from_col == row;
        });
        if (!rows && !follows([&](auto row, auto col, auto from_row, auto from_col) {
              return from_row == col && from_col == again(row);
            }))
          continue;
        const std::string lines = rows ? "row" : "column";
        return every + " repeats its first " +
               (part == 1 ? lines : std::to_string(part) + " " + lines + "s") +
               " of in: is the loop's variable in the indices of the load and of the store?";
      }
    }
    return reordered();
  }

  // True if every element of in is in out, once.
  bool has_each_once() const {
    std::vector<bool> seen(origins_.size());
    for (const std::int64_t from : origins_) {
      if (from < 0 || seen[from]) return false;
      seen[from] = true;
    }
    return true;
  }

  // The elements of a row or a column are in the right line, but are not its elements in order. If
  // a tile is read in another order than it was stored, no element is lost or repeated.
  std::string reordered() const {
    if (!has_each_once()) return wrong_line();
    for (const std::int64_t tile : {8, 16, 32, 64}) {
      const bool rows = follows([&](auto row, auto col, auto from_row, auto from_col) {
        return from_col == row && from_row / tile == col / tile;
      });
      if (!rows && !follows([&](auto row, auto col, auto from_row, auto from_col) {
            return from_row == col && from_col / tile == row / tile;
          }))
        continue;
      return std::string("every ") + (rows ? "row" : "column") + " of a tile of " +
             std::to_string(tile) + "x" + std::to_string(tile) +
             " of out has its own elements in another order: is the tile read with the same index "
             "(the same swizzle) as it was stored?";
    }
    return "";
  }

  // One of the two indices of an element is right, and the other one is wrong.
  std::string wrong_line() const {
    constexpr std::int64_t of_a_byte = 256, smallest_tiled = 32;
    for (const bool rows : {true, false}) {
      if (!follows([&](auto row, auto col, auto from_row, auto from_col) {
            return rows ? from_col == row : from_row == col;
          }))
        continue;
      const std::string own = rows ? "row" : "column", other = rows ? "column" : "row";
      if (follows([&](auto row, auto col, auto from_row, auto from_col) {
            return rows ? from_row == col % of_a_byte : from_col == row % of_a_byte;
          }))
        return other + " 256 of out is " + other +
               " 0 again, and so on: is an index a char, which has 8 bits? Use an int";
      if (std::min(in_.rows, in_.cols) < smallest_tiled) continue;
      return "every element is in its " + own + " of out, but not in its " + other +
             ", and some are lost or repeated: what is blockIdx multiplied by in the index of "
             "the " +
             own + " of in and of the " + other +
             " of out - the side of a tile, or only the threads of a block?";
    }
    return "";
  }

  // Rows that were taken to be longer or shorter than they are. out[0][1] and the place of in[0][1]
  // show the length.
  std::string row_length() const {
    const auto text = [](const char* does, std::int64_t length, std::int64_t right,
                         const char* name) {
      return std::string(does) + " as if its rows had " + std::to_string(length) +
             " elements; they have " + std::to_string(right) +
             (length == right / 4 * 4
                  ? std::string(
                        ": a row of float4s must be a multiple of 4 floats long - are there "
                        "loads and stores of single floats for other numbers of ") +
                        name + "?"
                  : ": check the factor of the row in the index");
    };
    if (in_.rows > 1 && !origins_.empty() && origins_[1] >= 0) {
      const std::int64_t length = origins_[1];
      if (follows([&](auto row, auto col, auto from_row, auto from_col) {
            return col * length + row == from_row * in_.cols + from_col;
          }))
        return text("in was read", length, in_.cols, "cols");
    }
    const auto second = std::ranges::find(origins_, 1);
    if (in_.cols > 1 && second != origins_.end()) {
      const std::int64_t length = second - origins_.begin();
      if (follows([&](auto row, auto col, auto from_row, auto from_col) {
            return row * out_.cols + col == from_col * length + from_row;
          }))
        return text("out was written", length, in_.rows, "rows");
    }
    return "";
  }

  // Finds where the first wrong element comes from, if it is an element of in.
  std::string where_from() const {
    const bits found = out_.at(first_row_, first_col_);
    const auto from = std::find(in_.data.begin(), in_.data.end(), found) - in_.data.begin();
    const std::string text =
        of_all(wrong_) + (wrong_ == 1 ? " is wrong, " : " are wrong, ") + no_known_pattern;
    if (from == static_cast<std::int64_t>(in_.data.size())) {
      const bool untouched = is_left_as_it_was(found);
      return text +
             (untouched ? ", and this one was not written" : ", and in holds no such number");
    }
    return text + ", and this one is " + place("in", from / in_.cols, from % in_.cols);
  }

  matrix in_, out_;
  std::vector<std::int64_t> origins_;  // indexed by position in out; empty for large matrices
  std::size_t wrong_ = 0, unwritten_ = 0, unwritten_shared_ = 0, nan_ = 0;
  std::int64_t first_row_ = 0, first_col_ = 0;
  std::int64_t unwritten_row_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t unwritten_col_ = std::numeric_limits<std::int64_t>::max();
};

class transpose_problem : public problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    const shape s = checked(n);
    problem_call call;
    call.label = "rows = " + std::to_string(s.rows) + ", cols = " + std::to_string(s.cols) +
                 ", seed " + std::to_string(seed);
    call.scalars = {s.rows, s.cols};
    const std::size_t count = s.rows * s.cols, bytes = count * sizeof(float);
    call.add_input("in", bytes);
    call.add_output("out", bytes);
    fill_with_distinct_floats({reinterpret_cast<bits*>(call.buffers[0].data.data()), count},
                              stream_for(seed, s.rows * 1000003 + s.cols));
    return call;
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    const auto& data = call.buffers.at(0).data;
    if (outputs.size() != 1 || outputs[0].size() != data.size()) {
      return "transpose: expected one output of " + std::to_string(data.size()) + " bytes";
    }
    const std::int64_t rows = call.scalars.at(0), cols = call.scalars.at(1);
    const std::size_t count = data.size() / sizeof(bits);
    const matrix in{{reinterpret_cast<const bits*>(data.data()), count}, rows, cols};
    const matrix out{{reinterpret_cast<const bits*>(outputs[0].data()), count}, cols, rows};
    if (is_transpose(in, out)) return std::nullopt;
    const wrong_result wrong(in, out);
    return "transpose: " + wrong.first() + " (" + call.label + "); " + wrong.looks_like();
  }

  // Every element must be read and written once.
  problem_work work(const size& n) const override {
    const shape s = checked(n);
    return {2.0 * sizeof(float) * static_cast<double>(s.rows * s.cols), 0, "flop"};
  }

 private:
  struct shape {
    std::int64_t rows, cols;
  };

  static shape checked(const size& n) {
    constexpr std::int64_t longest = 1000000;
    if (n.size() != 2 || n[0] < 1 || n[1] < 1 || n[0] > longest || n[1] > longest ||
        n[0] * n[1] > std::numeric_limits<int>::max()) {
      throw std::invalid_argument(
          "transpose: a size is rows x cols, each from 1 to 1000000, their product below 2^31");
    }
    return {n[0], n[1]};
  }
};

}  // namespace

STEPWISE_PROBLEM(transpose_problem)
}  // namespace stepwise
