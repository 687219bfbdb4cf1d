// The matmul lab's inputs, reference and comparison.
//
// idea    Whole numbers are so small that a sum is exact in any order. They are compared with ==,
//         which detects a missing product. Real numbers are compared within a bound that grows with
//         n. Whole numbers alone would not detect an order that loses precision; the bound alone
//         would let small errors pass at large n.
// tested  labs/matmul/tests/problem_test.cpp; the mutants of tests/mutants.txt
#include "common/lab/problem.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>

#include "labs/matmul/product_check.hpp"

namespace stepwise {
namespace {

using namespace matmul_lab;

constexpr int most_compared = 512;  // up to this n, every element is recomputed

enum : std::uint64_t { stream_a, stream_b };  // equal streams would make a and b equal

// n a / 6, the expected sum of an element's positive products, is below 2^24; so are its parts. Up
// to n = 16384 some elements have 12 bits, and TF32 and half precision (11 bits) lose the last.
int largest_whole(int n) { return std::clamp((1 << 26) / n, 1, 4095); }

void fill_with_whole(std::span<float> values, int largest, random_stream random) {
  const auto range = static_cast<std::uint64_t>(2 * largest + 1);
  for (float& value : values) {
    value = static_cast<float>(static_cast<int>((random.next() >> 32) % range) - largest);
  }
}

void fill_with_real(std::span<float> values, random_stream random) {
  for (float& value : values) {
    value = static_cast<float>(static_cast<int>(random.next() >> 40) - (1 << 23)) * 0x1p-23f;
  }
}

bool are_whole(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return v == std::trunc(v); });
}

bool one_byte_repeated(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bits != 0 && bits == (bits & 0xff) * 0x01010101u;
}

std::string hexadecimal(float value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", std::bit_cast<std::uint32_t>(value));
  return text.data();
}

std::string decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

std::string element(int row, int col) {
  return "c[" + std::to_string(row) + "][" + std::to_string(col) + "]";
}

// "row 32" or "rows 32 to 40"
std::string range(const char* what, int first, int last) {
  const std::string text = what + std::string(first == last ? " " : "s ") + std::to_string(first);
  return first == last ? text : text + " to " + std::to_string(last);
}

// Recognises common mistakes in a wrong product by trying them one by one on every element.
class wrong_product {
 public:
  explicit wrong_product(const matrices& m) : m_(m), n_(m.n), expected_(n_ * n_) {
    std::vector<double> row;
    for (int y = 0; y < m.n; ++y) {
      expected_row(m, y, row);
      std::copy(row.begin(), row.end(), expected_.begin() + y * n_);
    }
    for (std::size_t i = 0; i < n_ * n_; ++i) {
      if (!is_right(m, m.c[i], expected_[i])) wrong_.push_back(i);
    }
  }

  // The text to add after the first wrong element, with a semicolon before each part.
  std::string looks_like() const {
    const std::string end = where().empty() ? "" : "; " + where();
    for (const auto guess :
         {&wrong_product::left_as_it_was, &wrong_product::added_to_what_was,
          &wrong_product::another_product, &wrong_product::wrong_place_in_tile,
          &wrong_product::first_tile_again, &wrong_product::tiles_overlap, &wrong_product::zeros,
          &wrong_product::last_product, &wrong_product::without_an_end,
          &wrong_product::last_product_again, &wrong_product::all_too_large,
          &wrong_product::not_a_number, &wrong_product::multiple, &wrong_product::continued,
          &wrong_product::one_line_replaced, &wrong_product::imprecise,
          &wrong_product::two_products}) {
      if (const std::string text = (this->*guess)(); !text.empty()) return "; " + text + end;
    }
    if (end.empty()) return "";
    const bool is_edge = end.find(": ") != std::string::npos;
    return end + (is_edge ? ", and their values are " : ", ") + no_known_pattern + second_tile();
  }

 private:
  static constexpr double most_of_tile = 1024;

  float found(std::size_t i) const { return m_.c[i]; }
  float first_found() const { return found(wrong_[0]); }
  int row_of(std::size_t i) const { return static_cast<int>(i / n_); }
  int col_of(std::size_t i) const { return static_cast<int>(i % n_); }

  // The number of wrong elements, and where they are if they form an edge of c.
  std::string where() const {
    if (n_ == 1) return "";
    int top = m_.n, left = m_.n, corner = m_.n;
    for (const std::size_t i : wrong_) {
      top = std::min(top, row_of(i));
      left = std::min(left, col_of(i));
      corner = std::min(corner, std::max(row_of(i), col_of(i)));
    }
    const std::string count = std::to_string(wrong_.size()) + " of " + std::to_string(n_ * n_) +
                              (wrong_.size() == 1 ? " elements is wrong" : " elements are wrong");
    const bool stored = !all_hold_one_byte();
    const auto ask = [&](int from) -> std::string {
      if (stored) return "";
      if (from == 256)
        return " - does the grid round up, and is an index kept in 8 bits, which end at 255?";
      if (from == 1)
        return " - does the block have threads in both x and y, such as dim3(tile, tile)?";
      return " - does the grid round up in x and in y, is blockIdx in the index, and does the "
             "store use the row and column of its sum?";
    };
    const int last = m_.n - 1;
    if (top > 0 && wrong_.size() == n_ * (n_ - top)) {
      return count + ": all of " + range("row", top, last) + ask(top);
    }
    if (left > 0 && wrong_.size() == n_ * (n_ - left)) {
      return count + ": all of " + range("column", left, last) + ask(left);
    }
    if (corner > 0 && wrong_.size() == n_ * n_ - std::size_t(corner) * corner) {
      return count + ": all of " + range("row", corner, last) + " and of " +
             range("column", corner, last) + ask(corner);
    }
    if (!stored && wrong_.size() == n_ * n_ - n_ &&
        std::ranges::all_of(wrong_, [&](auto i) { return row_of(i) != col_of(i); }))
      return count + ": all but the diagonal - do row and col both use .x, or both .y?";
    return count;
  }

  // True if all wrong elements are the same float, and its four bytes are equal, as in c before the
  // call.
  bool all_hold_one_byte() const {
    const float first = first_found();
    return one_byte_repeated(first) && std::all_of(wrong_.begin(), wrong_.end(), [&](auto i) {
             return std::bit_cast<std::uint32_t>(found(i)) == std::bit_cast<std::uint32_t>(first);
           });
  }

  std::string left_as_it_was() const {
    if (!all_hold_one_byte()) return "";
    const float first = first_found();
    const std::string bytes =
        "these are the bytes " + hexadecimal(first) + " that filled c before the call: ";
    // If a product of 0 is added to these bytes, they also stay as they are.
    if (std::all_of(wrong_.begin(), wrong_.end(), [&](auto i) { return expected_[i] == 0; }))
      return bytes + "c was not written here, or the sum was added to it (+= instead of =)";
    if (wrong_.size() == n_ * n_) return bytes + "nothing was written to c";
    return bytes + "not every element was written";
  }

  // Finds the fill byte whose float, added to the product, comes closest.
  std::string added_to_what_was() const {
    float best = 0;
    double best_error = std::numeric_limits<double>::infinity();
    for (std::uint32_t byte = 1; byte < 256; ++byte) {
      const auto old = std::bit_cast<float>(byte * 0x01010101u);
      if (!std::isfinite(old)) continue;
      double error = 0;
      for (const std::size_t i : wrong_) {
        const double sum = expected_[i] + old, most = m_.of == kind::real ? largest_error(m_.n) : 0;
        const double off = std::abs(found(i) - sum);
        error = off <= most + 0x1p-23 * std::abs(sum) ? std::max(error, off) : best_error;
        if (!(error < best_error)) break;
      }
      if (error < best_error) {
        best = old;
        best_error = error;
      }
    }
    if (best == 0) return "";
    return "this is the product plus " + hexadecimal(best) +
           ", which filled c before the call: store the sum, do not add it to what is there";
  }

  // True if every wrong element is equal to `candidate(row, col)`.
  bool is_everywhere(const std::function<double(int, int)>& candidate) const {
    return std::all_of(wrong_.begin(), wrong_.end(), [&](std::size_t i) {
      return is_right(m_, found(i), candidate(row_of(i), col_of(i)));
    });
  }

  // The amounts by which an index into a or b grows with row, col and k.
  struct strides {
    std::size_t row, col, k;
    std::size_t at(int y, int x, std::size_t i) const { return y * row + x * col + i * k; }
  };

  double sum(int row, int col, const strides& a, const strides& b) const {
    double sum = 0;
    for (std::size_t k = 0; k < n_; ++k) {
      sum += double(m_.a[a.at(row, col, k)]) * m_.b[b.at(row, col, k)];
    }
    return sum;
  }

  std::string another_product() const {
    const auto transposed = [&](int row, int col) { return expected_[col * n_ + row]; };
    if (is_everywhere(transposed))
      return "this is the product transposed: are row and col swapped?";
    struct {
      const char* name;
      strides a, b;
    } const products[] = {
        {"transposed a times b: which index of a is k?", {1, 0, n_}, {0, 1, n_}},
        {"a times transposed b: which index of b, or of its tile, is k?", {n_, 0, 1}, {0, n_, 1}},
        {"transposed a times transposed b: which indices are k?", {1, 0, n_}, {0, n_, 1}},
        {"b times a: the order of the factors matters", {0, 1, n_}, {n_, 0, 1}},
    };
    for (const auto& p : products) {
      if (is_everywhere([&](int row, int col) { return sum(row, col, p.a, p.b); }))
        return std::string("this is ") + p.name;
    }
    for (const bool of_a : {true, false}) {
      const auto& m = of_a ? m_.a : m_.b;
      if (is_everywhere([&](int row, int col) {
            double sum = 0;
            for (std::size_t k = 0; k < n_; ++k) sum += double(m[row * n_ + k]) * m[k * n_ + col];
            return sum;
          }))
        return of_a ? "this is a times a: does the launch pass b?"
                    : "this is b times b: does the launch pass a?";
    }
    if (is_everywhere(
            [&](int row, int col) { return double(m_.a[row * n_ + col]) * m_.b[row * n_ + col]; }))
      return "this is a[row][col] * b[row][col]: an element of c is the sum of n products";
    return "";
  }

  // A tile of b is loaded from, or read at, a place that confuses the thread's index with k.
  std::string wrong_place_in_tile() const {
    for (const std::size_t tile : {8, 16, 32, 64}) {
      const auto value = [&](std::size_t k, std::size_t col) -> double {
        return k < n_ && col < n_ ? m_.b[k * n_ + col] : 0;
      };
      const struct {
        const char* text;
        std::function<double(std::size_t, std::size_t, std::size_t)> b;  // of row, col, k
      } mistakes[] = {
          {"this happens if the tile of b is loaded from b's row k0 + threadIdx.x: is it the row "
           "k0 + threadIdx.y?",
           [&](auto, auto col, auto k) { return value(k - k % tile + col % tile, col); }},
          {"this happens if the sum reads b_tile[threadIdx.y][k]: is it b_tile[k][threadIdx.x]?",
           [&](auto row, auto col, auto k) {
             return value(k - k % tile + row % tile, col - col % tile + k % tile);
           }}};
      for (const auto& mistake : mistakes) {
        const auto wrong = [&](std::size_t row, std::size_t col) {
          double sum = 0;
          for (std::size_t k = 0; k < n_; ++k) sum += m_.a[row * n_ + k] * mistake.b(row, col, k);
          return sum;
        };
        if (is_right(m_, first_found(), wrong(row_of(wrong_[0]), col_of(wrong_[0]))) &&
            is_everywhere(wrong))
          return mistake.text;
      }
    }
    return "";
  }

  // A mistake in the products shows in many elements. A few wrong elements fit several by chance.
  bool is_common() const { return 4 * wrong_.size() >= n_ * n_; }

  // Every pass of a loop over tiles fetches the first tile of a, of b, or of both.
  std::string first_tile_again() const {
    constexpr std::size_t smallest_tile = 4;
    if (!is_common()) return "";
    const struct {
      const char* name;
      bool a, b;
    } guesses[] = {{"a", true, false}, {"b", false, true}, {"both a and b", true, true}};
    for (std::size_t tile = n_ - 1; tile >= smallest_tile; --tile) {
      for (const auto& guess : guesses) {
        const auto again = [&](int row, int col) {
          double sum = 0;
          for (std::size_t k = 0; k < n_; ++k) {
            sum += double(m_.a[row * n_ + (guess.a ? k % tile : k)]) *
                   m_.b[(guess.b ? k % tile : k) * n_ + col];
          }
          return sum;
        };
        const int row = row_of(wrong_[0]), col = col_of(wrong_[0]);
        if (!is_right(m_, first_found(), again(row, col)) || !is_everywhere(again)) continue;
        return "this happens if the first tile of " + std::string(guess.name) +
               " is used again for k = " + std::to_string(tile) +
               " and on: does the index contain the tile's first k?";
      }
    }
    return "";
  }

  // A loop over tiles advances by less than a tile, so products are added several times.
  std::string tiles_overlap() const {
    if (n_ == 1 || !is_common()) return "";
    const int row = row_of(wrong_[0]), col = col_of(wrong_[0]);
    for (const std::size_t tile : {4, 8, 16, 32, 64}) {
      for (std::size_t step = 1; step < std::min(tile, n_); step *= 2) {
        // The number of tiles that begin at or before k and hold it.
        const auto times = [&](std::size_t k) {
          return static_cast<double>(k / step - (k < tile ? 0 : (k - tile) / step + 1) + 1);
        };
        const auto overlapping = [&](int y, int x) {
          double sum = 0;
          for (std::size_t k = 0; k < n_; ++k)
            sum += times(k) * m_.a[y * n_ + k] * m_.b[k * n_ + x];
          return sum;
        };
        if (!is_right(m_, first_found(), overlapping(row, col)) || !is_everywhere(overlapping))
          continue;
        return "this happens if the loop over the tiles advances by " + std::to_string(step) +
               ", so that the product of k = " + std::to_string(step) + " is added " +
               std::to_string(static_cast<int>(times(step))) +
               " times: does its k advance by the width of a tile?";
      }
    }
    return "";
  }

  // The sum is assigned instead of added to, so only a last product is left.
  std::string last_product() const {
    const auto last = [&](std::size_t row, std::size_t col) {
      return double(m_.a[row * n_ + n_ - 1]) * m_.b[(n_ - 1) * n_ + col];
    };
    if (n_ == 1 || !is_everywhere(last)) return "";
    return "this is the product of the last k alone: does the loop add every product (+=, not =), "
           "and "
           "does the sum begin at 0 only once?";
  }

  // The last or the first products are missing from every wrong sum.
  std::string without_an_end() const {
    if (!is_common()) return "";
    const int row = row_of(wrong_[0]), col = col_of(wrong_[0]);
    for (const bool last : {true, false}) {
      const auto missing = [&](int row, int col, int count) {
        double left = expected_[row * n_ + col];
        for (int i = 0; i < count; ++i) {
          const std::size_t k = last ? n_ - 1 - i : i;
          left -= double(m_.a[row * n_ + k]) * m_.b[k * n_ + col];
        }
        return left;
      };
      for (int count = 1; count < m_.n; ++count) {
        if (!is_right(m_, first_found(), missing(row, col, count))) continue;
        if (!is_everywhere([&](int y, int x) { return missing(y, x, count); })) continue;
        return std::string("the ") + (last ? "last" : "first") + " " +
               (count == 1 ? "product is" : std::to_string(count) + " products are") +
               " missing from the sums" +
               (last ? stops_early(m_.n - count)
                : count == 1
                    ? " - does k begin at 0, and is each product added (+=)?"
                    : " - is each product added (+=) to a sum that begins before all loops?");
      }
    }
    return "";
  }

  // Asks why a loop stops before n. If it added one tile's products, its step may be too large.
  static std::string stops_early(int added) {
    constexpr int smallest_tile = 4;
    return " - does the loop reach n, even if n is not a multiple of the tile" +
           (added >= smallest_tile && std::has_single_bit(unsigned(added))
                ? ", and does its k advance by " + std::to_string(added) + ", the width of a tile?"
                : std::string("?"));
  }

  std::string zeros() const {
    for (const std::size_t i : wrong_) {
      if (found(i) != 0) return "";
    }
    if (std::ranges::any_of(m_.c, [](float value) { return value != 0; }))
      return "0 is stored in each of them: were their sums computed, for the same rows and "
             "columns?";
    return "every element is 0: does the loop over the products run at all for this n, does it add "
           "every product (+=, not =), and is the sum a float?";
  }

  // Every element is too large by the same whole number.
  std::string all_too_large() const {
    const double more = std::round(first_found() - expected_[wrong_[0]]);
    if (wrong_.size() < n_ * n_ || !(std::abs(more) >= 1 && std::abs(more) <= 16)) return "";
    if (!is_everywhere([&](int row, int col) { return expected_[row * n_ + col] + more; }))
      return "";
    return "every element is the product plus " + decimal(more) +
           ": does a sum begin at 0, and does it add products?";
  }

  std::string not_a_number() const {
    if (!std::isnan(first_found())) return "";
    return "nan comes from an operand that was not set, or was read before another thread wrote it "
           "(a barrier?), or from a sum that did not start from 0";
  }

  // Where a tile extends beyond the matrices, it repeats the last row and column instead of
  // holding 0.
  std::string last_product_again() const {
    if (n_ == 1 || !is_common()) return "";
    const auto last = [&](int row, int col) {
      return double(m_.a[row * n_ + n_ - 1]) * m_.b[(n_ - 1) * n_ + col];
    };
    const auto first = static_cast<int>(wrong_[0]);
    const double one = last(first / m_.n, first % m_.n);
    const double times = one == 0 ? 0 : std::round((first_found() - expected_[first]) / one);
    if (!(times >= 1 && times < most_of_tile)) return "";
    if (!is_everywhere(
            [&](int row, int col) { return expected_[row * n_ + col] + times * last(row, col); }))
      return "";
    return "the last product is added " + decimal(times) +
           (times == 1 ? " more time" : " more times") +
           ": where a tile goes beyond n, does it hold 0, and not the last row or column again?";
  }

  std::string multiple() const {
    const double times =
        expected_[wrong_[0]] == 0 ? 0 : std::round(first_found() / expected_[wrong_[0]]);
    if (!(times >= 2 && times <= most_of_tile) ||
        !is_everywhere([&](int row, int col) { return times * expected_[row * n_ + col]; }))
      return "";
    return "this is " + decimal(times) + " times the product: is every product added " +
           (times == 2 ? "twice" : decimal(times) + " times") +
           (n_ == 1 ? ", or does a tile hold the last element again, and not 0, where it goes "
                      "beyond n?"
                    : "?");
  }

  // A thread's sums start from the final sums of its previous tile, or of the same thread in the
  // previous block. The first tile of c is then right. The error of each next tile is the tile to
  // its left.
  std::string continued() const {
    std::size_t tile = n_;
    for (const std::size_t i : wrong_)
      tile = std::min(tile, std::size_t(std::max(row_of(i), col_of(i))));
    if (tile == 0 || tile == n_) return "";
    const double most = m_.of == kind::real ? largest_error(m_.n) : 0;
    std::size_t seen = 0;
    for (const std::size_t i : wrong_) {
      if (i / n_ >= tile || i % n_ < tile) continue;
      if (!(std::abs(found(i) - expected_[i] - found(i - tile)) <= 2 * most)) return "";
      ++seen;
    }
    if (seen < 2) return "";
    return "c[row][col - " + std::to_string(tile) +
           "] was added: is the sum set to 0 before the loop?";
  }

  // A product in which one row of b or one column of a is missing, or replaced by another.
  std::string one_line_replaced() const {
    if (!is_common()) return "";
    const int n = m_.n, y0 = row_of(wrong_[0]), x0 = col_of(wrong_[0]);
    for (const bool of_b : {true, false}) {
      const auto replaced = [&](int row, int col, int k, int by) {
        const auto product = [&](int from_a, int from_b) {
          return double(m_.a[row * n_ + from_a]) * m_.b[from_b * n_ + col];
        };
        const double instead = by < 0 ? 0 : of_b ? product(k, by) : product(by, k);
        return expected_[row * n_ + col] - product(k, k) + instead;
      };
      for (int k = 0; k < n; ++k) {
        for (int by = -1; by < n; ++by) {
          if (by == k || !is_right(m_, first_found(), replaced(y0, x0, k, by))) continue;
          if (!is_everywhere([&](int row, int col) { return replaced(row, col, k, by); })) continue;
          if (by < 0) return "the products of k = " + std::to_string(k) + " are missing";
          return "this happens if " + std::string(of_b ? "row " : "column ") + std::to_string(by) +
                 " of " + (of_b ? "b" : "a") + " is used in place of " + std::to_string(k) +
                 ": is each part of its tile loaded from the right place?";
        }
      }
    }
    return "";
  }

  // All errors are small compared with the elements.
  std::string imprecise() const {
    double largest = 0;
    for (const double value : expected_) largest = std::max(largest, std::abs(value));
    for (const std::size_t i : wrong_) {
      if (!(std::abs(found(i) - expected_[i]) <= 0.02 * largest)) return "";
    }
    return "close, but less precise than float32 allows: are operands or sums narrower?";
  }

  // For n = 2, the two products of which the first wrong sum consists. Whole numbers would agree
  // with too many pairs.
  std::string two_products() const {
    if (n_ != 2 || m_.of != kind::real) return "";
    const auto name = [](const char* matrix, std::size_t i) {
      return matrix + ("[" + std::to_string(i / 2) + "][" + std::to_string(i % 2) + "]");
    };
    const auto product = [&](std::size_t i) { return double(m_.a[i / 4]) * m_.b[i % 4]; };
    const auto text = [&](std::size_t i) { return name("a", i / 4) + " * " + name("b", i % 4); };
    const std::size_t row = wrong_[0] / 2, col = wrong_[0] % 2;
    const auto right = [&](std::size_t k) { return text(4 * (2 * row + k) + 2 * k + col); };
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t j = i; j < 16; ++j) {
        if (is_right(m_, first_found(), product(i) + product(j)))
          return "this is " + text(i) + " + " + text(j) + ", not " + right(0) + " + " + right(1);
      }
    }
    return "";
  }

  // Most sums are wrong, and no rule above explains them. Tiles of 16 or more are common, so there
  // is a second one only if n is larger.
  std::string second_tile() const {
    constexpr std::size_t common_tile = 16;
    if (n_ <= common_tile || 2 * wrong_.size() < n_ * n_) return "";
    return ". If smaller n are right, look at the second tile: is its first k in every index, and "
           "do all threads pass a barrier before it replaces the first?";
  }

  const matrices& m_;
  std::size_t n_;
  std::vector<double> expected_;
  std::vector<std::size_t> wrong_;
};

// Finds out from two further calls which elements of a and b the sums multiply.
//
// idea    If b is the identity, c is a as the kernel sees it, and each element of a names its
//         place. A call in which a is the identity shows b in the same way.
class factors {
 public:
  factors(const problem_call& call, const problem::further_call& again)
      : call_(call), again_(again), n_(static_cast<int>(call.scalars.at(0))) {}

  // "c[0][64] is the product of row 0 of a and column 0 of b". Empty if the calls show nothing.
  std::string text(const matrices& m) {
    constexpr int most = 2048;  // n * n is exact in a float
    if (n_ < 2 || n_ > most) return "";
    // A result that changes from call to call follows no rule.
    const auto same = again_(call_);
    if (!same || !std::ranges::equal(same->at(0), std::as_bytes(m.c))) return "";
    const auto of_a = places(0), of_b = places(1);
    if (of_a.empty() || of_b.empty()) return "";
    std::vector<double> expected;
    for (int row = 0; row < n_; ++row) {
      expected_row(m, row, expected);
      for (int col = 0; col < n_; ++col) {
        const std::size_t i = std::size_t(row) * n_ + col;
        if (is_right(m, m.c[i], expected[col])) continue;
        // The place of this element, and the places in a and b whose elements it shows.
        const place own{row, col}, in_a = of_a[i], in_b = of_b[i];
        if (in_a == in_b && in_a.row >= 0 && !(in_a == own) && is_product(m, m.c[i], in_a))
          return element(row, col) + " is the product of row " + std::to_string(in_a.row) +
                 " of a and column " + std::to_string(in_a.col) + " of b: " + where_from(own, in_a);
        if (in_a == own && in_b.row != several && !(in_b == own))
          return wrong_factor("b", own, in_b);
        if (in_b == own && in_a.row != several && !(in_a == own))
          return wrong_factor("a", own, in_a);
      }
    }
    return "";
  }

 private:
  static constexpr int zero = -1, several = -2;  // for a row: no single element
  struct place {
    int row, col;
    bool operator==(const place&) const = default;
  };

  static bool is_product(const matrices& m, float found, const place& p) {
    std::vector<double> row;
    expected_row(m, p.row, row);
    return is_right(m, found, row[p.col]);
  }

  // The place in a (0) or b (1) whose element each element of c shows if the other matrix is the
  // identity. Empty if the call fails.
  std::vector<place> places(int of) {
    const std::size_t count = std::size_t(n_) * n_;
    const auto values = [&](int i) {
      return std::span(reinterpret_cast<float*>(call_.buffers[i].data.data()), count);
    };
    for (std::size_t i = 0; i < count; ++i) {
      values(of)[i] = static_cast<float>(i + 1);
      values(1 - of)[i] = i / n_ == i % n_ ? 1 : 0;
    }
    const auto outputs = again_(call_);
    if (!outputs) return {};
    const auto* const c = reinterpret_cast<const float*>(outputs->at(0).data());
    std::vector<place> seen(count, place{several, 0});
    for (std::size_t i = 0; i < count; ++i) {
      if (c[i] == 0) seen[i] = {zero, 0};
      if (!(c[i] >= 1 && c[i] <= static_cast<float>(count)) || c[i] != std::floor(c[i])) continue;
      const auto at = static_cast<int>(c[i]) - 1;
      seen[i] = {at / n_, at % n_};
    }
    return seen;
  }

  static std::string where_from(const place& own, const place& other) {
    const bool row = own.row != other.row, col = own.col != other.col;
    return std::string("does a thread use the same ") +
           (row && col ? "row and column"
            : row      ? "row"
                       : "column") +
           " where " +
           (row && col ? "a and b are"
            : row      ? "a is"
                       : "b is") +
           " loaded, where the tile is read, and where the sum is stored?";
  }

  static std::string wrong_factor(const char* matrix, const place& own, const place& other) {
    const auto name = [&](const place& p) {
      return std::string(matrix) + "[" + std::to_string(p.row) + "][" + std::to_string(p.col) + "]";
    };
    return "the sum of " + element(own.row, own.col) + " takes " +
           (other.row == zero ? "0" : name(other)) + " where " + name(own) +
           " belongs: is each index right where " + matrix +
           " is loaded, and where its tile is read?";
  }

  problem_call call_;
  const problem::further_call& again_;
  int n_;
};

class matmul_problem : public problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    const int count = checked(n);
    const auto elements = static_cast<std::size_t>(count) * count;
    const std::size_t bytes = elements * sizeof(float);
    problem_call call;
    call.label = "n = " + std::to_string(count) + ", seed " + std::to_string(seed);
    call.scalars = {count};
    call.add_input("a", bytes);
    call.add_input("b", bytes);
    call.add_output("c", bytes);
    const auto values = [&](int i) -> std::span<float> {
      return {reinterpret_cast<float*>(call.buffers[i].data.data()), elements};
    };
    const auto a = stream_for(seed, count).part(stream_a);
    const auto b = stream_for(seed, count).part(stream_b);
    // The two kinds alternate over a lab's sizes; the next seed swaps them.
    if ((count + seed) % 2 == 0) {
      fill_with_whole(values(0), largest_whole(count), a);
      fill_with_whole(values(1), 1, b);
      // A kernel that stores 0 must not be right for n = 1.
      if (count == 1)
        for (const int i : {0, 1}) std::ranges::replace(values(i), 0.0f, 2.0f);
    } else {
      fill_with_real(values(0), a);
      fill_with_real(values(1), b);
    }
    return call;
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    const auto values = [](std::span<const std::byte> bytes) -> std::span<const float> {
      return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
    };
    if (outputs.size() != 1 || outputs[0].size() != call.buffers.at(2).bytes) {
      return "matmul: expected one output of " + std::to_string(call.buffers.at(2).bytes) +
             " bytes";
    }
    matrices m{static_cast<int>(call.scalars.at(0)), values(call.buffers[0].data),
               values(call.buffers[1].data), values(outputs[0])};
    m.of = are_whole(m.a) && are_whole(m.b) ? kind::whole : kind::real;
    const bool small = m.n <= most_compared;
    const auto wrong = small ? compare_all(m) : compare_quickly(m, vectors_for(call.label));
    if (!wrong) return std::nullopt;
    if (wrong->whole_row) {
      return "matmul: row " + std::to_string(wrong->row) + " of c is less precise than float32 " +
             "allows (" + call.label + ")";
    }
    const float found = m.c[wrong->row * std::size_t(m.n) + wrong->col];
    std::string message = "matmul: " + element(wrong->row, wrong->col) + " = " + decimal(found) +
                          ", expected " + decimal(wrong->expected);
    if (m.of == kind::real) message += " +- " + decimal(largest_error(m.n));
    message += " (" + call.label + ")";
    if (small) return message + wrong_product(m).looks_like();
    if (one_byte_repeated(found)) {
      message += "; these are the bytes " + hexadecimal(found) + " that filled c before the call";
    }
    return message;
  }

  std::string explain(const problem_call& call, const results& outputs,
                      const further_call& again) const override {
    const auto values = [](std::span<const std::byte> bytes) -> std::span<const float> {
      return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
    };
    matrices m{static_cast<int>(call.scalars.at(0)), values(call.buffers.at(0).data),
               values(call.buffers.at(1).data), values(outputs.at(0))};
    m.of = are_whole(m.a) && are_whole(m.b) ? kind::whole : kind::real;
    return factors(call, again).text(m);
  }

  // Each product takes a multiplication and an addition. Two matrices are read, one is written.
  problem_work work(const size& n) const override {
    const double count = checked(n);
    const double flop = 2 * count * count * count;
    return {3 * sizeof(float) * count * count, flop, "flop", flop, "flop"};
  }

 private:
  static int checked(const size& n) {
    if (n.size() != 1 || n[0] < 1 || n[0] > 46340) {
      throw std::invalid_argument("matmul: a size is one number n from 1 to 46340");
    }
    return static_cast<int>(n[0]);
  }

  static random_stream vectors_for(const std::string& label) {
    return random_stream(std::hash<std::string>{}(label));
  }
};

}  // namespace

STEPWISE_PROBLEM(matmul_problem)
}  // namespace stepwise
