// The gemm lab's inputs, reference and comparison.
//
// idea    Whole numbers are so small that every sum is exact in float32, whatever the order. Then c
//         must be exactly the rounded sum, which shows a missing product and a wrong rounding. Real
//         numbers may differ by a bound that grows with k (product_check.hpp).
// tested  labs/gemm/tests/problem_test.cpp; the mutants of tests/mutants.txt
#include "common/lab/problem.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "labs/gemm/product_check.hpp"
#include "labs/gemm/used_elements.hpp"

namespace stepwise {
namespace {

using namespace gemm_lab;

constexpr double most_recomputed = 0x1p27;  // up to this m n k, every element is recomputed
constexpr int largest_size = 65536;

enum : std::uint64_t { stream_a, stream_b };  // equal streams would make a and b alike

// The largest whole number in a and b: k products add up to at most 2^24, so every partial sum is
// exact. bfloat16 represents all integers up to 256.
int largest_whole(int k) { return std::clamp(static_cast<int>(std::sqrt(0x1p24 / k)), 1, 127); }

void fill_with_whole(std::span<bf16> values, int largest, random_stream random) {
  const auto range = static_cast<std::uint64_t>(2 * largest + 1);
  for (bf16& value : values) {
    const int whole = static_cast<int>((random.next() >> 32) % range) - largest;
    value = rounded(static_cast<float>(whole));
  }
}

void fill_with_real(std::span<bf16> values, random_stream random) {
  for (bf16& value : values)
    value =
        rounded(static_cast<float>(static_cast<int>(random.next() >> 40) - (1 << 23)) * 0x1p-23f);
}

std::vector<float> floats_of(std::span<const bf16> values) {
  std::vector<float> floats(values.size());
  std::ranges::transform(values, floats.begin(), as_float);
  return floats;
}

bool are_whole(std::span<const float> values) {
  return std::ranges::all_of(values, [](float v) { return v == std::trunc(v); });
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
  explicit wrong_product(const product& p) : p_(p) {
    std::vector<double> row;
    expected_.reserve(p.c.size());
    for (int y = 0; y < p.m; ++y) {
      expected_row(p, y, row);
      expected_.insert(expected_.end(), row.begin(), row.end());
    }
    for (int y = 0; y < p.m; ++y) {
      for (int x = 0; x < p.n; ++x) {
        if (!is_right(p, p.found(y, x), expected(y, x))) wrong_.push_back({y, x});
      }
    }
  }

  // The text to append to the message about the first wrong element. Each part begins with "; ".
  std::string looks_like() const {
    for (const auto guess :
         {&wrong_product::left_as_it_was, &wrong_product::added_to_fill,
          &wrong_product::not_a_number, &wrong_product::swizzled_once, &wrong_product::misread_tile,
          &wrong_product::misread_fragment, &wrong_product::without_an_end,
          &wrong_product::a_step_is_missing, &wrong_product::swapped_box,
          &wrong_product::wrong_row_length, &wrong_product::zeros, &wrong_product::another_product,
          &wrong_product::nonzero_beyond_k, &wrong_product::keeps_old_sums,
          &wrong_product::multiple, &wrong_product::wrongly_rounded, &wrong_product::imprecise,
          &wrong_product::moved}) {
      if (const std::string text = (this->*guess)(); !text.empty()) return "; " + text + where();
    }
    return "; " + std::string(no_known_pattern) + where();
  }

 private:
  struct place {
    int row, col;
  };

  double expected(int row, int col) const { return expected_[p_.at(row, col)]; }
  float found(place at) const { return p_.found(at.row, at.col); }

  // The number of wrong elements, and their rows or columns if these are the last ones of c.
  std::string where() const {
    int top = p_.m, left = p_.n;
    for (const place at : wrong_) {
      top = std::min(top, at.row);
      left = std::min(left, at.col);
    }
    std::string text = "; " + std::to_string(wrong_.size()) + " of " + std::to_string(p_.c.size()) +
                       (wrong_.size() == 1 ? " elements is wrong" : " elements are wrong");
    if (top > 0 && wrong_.size() == static_cast<std::size_t>(p_.m - top) * p_.n)
      text += ": all of " + range("row", top, p_.m - 1);
    else if (left > 0 && wrong_.size() == static_cast<std::size_t>(p_.n - left) * p_.m)
      text += ": all of " + range("column", left, p_.n - 1);
    return text;
  }

  bool is_everywhere(const std::function<double(int, int)>& candidate) const {
    return std::ranges::all_of(
        wrong_, [&](place at) { return is_right(p_, found(at), candidate(at.row, at.col)); });
  }

  // An element of a product in which the indices of a and b grow by these amounts per row or
  // column, and per step along k.
  double sum(int row, int col, std::size_t a_row, std::size_t a_k, std::size_t b_k,
             std::size_t b_col) const {
    double total = 0;
    for (int i = 0; i < p_.k; ++i)
      total += double(p_.a[(row * a_row + i * a_k) % p_.a.size()]) *
               p_.b[(i * b_k + col * b_col) % p_.b.size()];
    return total;
  }

  std::string left_as_it_was() const {
    const bf16 first = p_.c[p_.at(wrong_[0].row, wrong_[0].col)];
    if (first == 0 || (first & 0xff) != first >> 8) return "";
    if (!std::ranges::all_of(wrong_,
                             [&](place at) { return p_.c[p_.at(at.row, at.col)] == first; }))
      return "";
    return wrong_.size() == p_.c.size()
               ? "nothing was written to c: these are the bytes that "
                 "filled it before the call"
               : "these are the bytes that filled c before the call: not "
                 "every element was written. Does the grid round up, with columns "
                 "along x and rows along y?";
  }

  // Every wrong element is the product plus the same value, which consists of two equal bytes.
  std::string added_to_fill() const {
    for (unsigned byte = 1; byte < 256; ++byte) {
      const double fill = as_float(static_cast<bf16>(byte << 8 | byte));
      if (is_everywhere([&](int y, int x) { return fill + expected(y, x); }))
        return "this is the product plus the value that filled c before the call: store the sum, "
               "do not add it to c";
    }
    return "";
  }

  std::string not_a_number() const {
    if (!std::isnan(found(wrong_[0]))) return "";
    return "nan comes from an operand that was not set, or was read before it was written (a "
           "barrier, or the wait for a copy?), or from a sum that did not start from 0";
  }

  // The elements of a and b, and 0 outside, as a copy writes them to a tile.
  double a_at(int row, int i) const {
    return row < p_.m && i < p_.k ? p_.a[std::size_t(row) * p_.k + i] : 0;
  }
  double b_at(int i, int col) const {
    return i < p_.k && col < p_.n ? p_.b[std::size_t(i) * p_.n + col] : 0;
  }

  // Whether all wrong elements are sums of a(row, i) * b(i, col).
  template <class A, class B>
  bool is_product_of(A a, B b) const {
    return is_everywhere([&](int y, int x) {
      double total = 0;
      for (int i = 0; i < p_.k; ++i) total += a(y, i) * b(i, x);
      return total;
    });
  }
  template <class A>
  bool is_a_as(A a) const {
    return is_product_of(a, [&](int i, int x) { return b_at(i, x); });
  }
  template <class B>
  bool is_b_as(B b) const {
    return is_product_of([&](int y, int i) { return a_at(y, i); }, b);
  }

  // The column of the element that is found at `col` if only one side uses the 128-byte swizzle.
  static int swizzled(int row, int col) { return col ^ row % 8 * 8; }

  std::string swizzled_once() const {
    std::string tiles;
    const auto add = [&](const char* tile, bool is_swizzled_once) {
      if (is_swizzled_once) tiles += (tiles.empty() ? "" : " or ") + std::string(tile);
    };
    add("a", is_a_as([&](int y, int i) { return a_at(y, swizzled(y, i)); }));
    add("b", is_b_as([&](int i, int x) { return b_at(i, swizzled(i, x)); }));
    add("c", is_everywhere([&](int y, int x) {
          const int col = swizzled(y, x);
          return col < p_.n ? expected(y, col) : 0;
        }));
    if (tiles.empty()) return "";
    return "this happens if the tile of " + tiles + " is swizzled on one side only: do the write " +
           "and the read of the tile both permute the chunks of a row?";
  }

  static int box(int i) { return i - i % 64; }  // the first row or column of a box of 64

  std::string swapped_box() const {
    if (is_b_as([&](int i, int x) { return b_at(box(x) + i % 64, box(i) + x % 64); }))
      return "this happens if the row and the column of b's boxes are swapped: which comes first?";
    for (const int rows : {64, 128}) {
      if (is_a_as([&](int y, int i) { return a_at(box(i) + y % rows, y - y % rows + i % 64); }))
        return "this happens if the row and the column of a's boxes are swapped: which comes "
               "first?";
    }
    return "";
  }

  // A tile of 64 elements along k in which wgmma reads the wrong rows or columns.
  std::string misread_tile() const {
    // Panels of 64 columns and 64 rows; 8 rows take 1024 bytes.
    for (const int cols : {128, 256}) {
      if (is_b_as([&](int i, int x) {
            const int row = i % 64 / 16 * 16 + i % 8 + x % cols / 64 * 8 + i / 8 % 2 * 64;
            return b_at(box(i) + row % 64, x - x % cols + row / 64 * 64 + x % 64);
          }))
        return "this happens if the two distances in b's descriptor are swapped: the leading one "
               "leads to the next panel, the stride to the next 8 rows";
    }
    const auto first_16 = [](int i) { return i - i % 64 + i % 16; };
    const bool of_a = is_a_as([&](int y, int i) { return a_at(y, first_16(i)); });
    const bool of_b = is_b_as([&](int i, int x) { return b_at(first_16(i), x); });
    if (of_a || of_b)
      return "this happens if all steps along k use the first 16 " +
             std::string(of_a ? "columns of a's" : "rows of b's") +
             " tile: does the address, or the descriptor, advance by 16 per step?";
    // 32 units of 16 bytes are 4 rows.
    if (is_a_as([&](int y, int i) { return a_at(y + i % 64 / 16 * 4, first_16(i)); }))
      return "this happens if a's descriptor advances by 32 per step of 16 columns: it counts "
             "units of 16 bytes, and the step takes 2";
    return "";
  }

  // The upper 8 rows of each fragment of 16 rows are used in place of the lower ones, too.
  std::string misread_fragment() const {
    const auto upper = [](int i) { return i - i % 16 + i % 8; };
    const auto upper_a = [&](int y, int i) { return a_at(upper(y), i); };
    const auto upper_b = [&](int i, int x) { return b_at(upper(i), x); };
    if (!is_a_as(upper_a) && !is_b_as(upper_b) && !is_product_of(upper_a, upper_b)) return "";
    return "this happens if a fragment's upper 8 rows are loaded twice: does lane l pass the "
           "address of row l % 16?";
  }

  // In the first row of tiles, the second tile also has the sums of the first.
  std::string keeps_old_sums() const {
    const int cols = wrong_[0].col;
    if (wrong_[0].row > 0 || cols == 0) return "";
    for (const place at : wrong_) {
      if (at.row >= 8 || at.col >= 2 * cols) continue;
      const double old = expected(at.row, at.col - cols), sum = expected(at.row, at.col);
      if (std::abs(found(at) - (old + sum)) >
          largest_error(p_.k, sum + old) + largest_sum_error(p_.k))
        return "";
    }
    return "c[row][col - " + std::to_string(cols) + "] was added: are the sums 0 before the loop?";
  }

  // A matrix that was read or written with the row length of another matrix.
  std::string wrong_row_length() const {
    struct dimension {
      int length;
      const char* name;
    };
    const dimension m{p_.m, "m"}, n{p_.n, "n"}, k{p_.k, "k"};
    const auto message = [](const char* of, dimension wrong, dimension right) {
      return "this happens if the row length of " + std::string(of) + " is " + wrong.name +
             ", not " + right.name +
             ": check the index and, in a tensor map, the order of rows and columns";
    };
    const auto element = [](std::span<const float> matrix, int row, int col, int cols) {
      const auto i = std::size_t(row) * cols + col;
      return i < matrix.size() ? matrix[i] : 0;
    };
    for (const bool is_cut : {false, true}) {  // at the edges of the wrong matrix
      for (const dimension cols : {m, n}) {
        if (cols.length != k.length && is_a_as([&](int y, int i) {
              const bool outside = is_cut && (i >= cols.length || y >= k.length);
              return outside ? 0 : element(p_.a, y, i, cols.length);
            }))
          return message("a", cols, k);
      }
      for (const dimension cols : {k, m}) {
        if (cols.length != n.length && is_b_as([&](int i, int x) {
              const bool outside = is_cut && (x >= cols.length || i >= n.length);
              return outside ? 0 : element(p_.b, i, x, cols.length);
            }))
          return message("b", cols, n);
      }
    }
    for (const dimension cols : {m, k}) {
      if (cols.length != n.length &&
          std::ranges::all_of(wrong_, [&](place at) { return is_stored_with(cols.length, at); }))
        return message("c", cols, n);
    }
    return "";
  }

  // Whether c, with rows of another length, has the right sum here, or was not written here.
  bool is_stored_with(int cols, place at) const {
    const bf16 bits = p_.c[p_.at(at.row, at.col)];
    if (bits != 0 && (bits & 0xff) == bits >> 8) return true;
    const auto i = static_cast<std::int64_t>(p_.at(at.row, at.col));
    for (int row = 0; row < p_.m; ++row) {
      const std::int64_t col = i - std::int64_t(row) * cols;
      if (col >= 0 && col < p_.n && is_right(p_, found(at), expected(row, static_cast<int>(col))))
        return true;
    }
    return false;
  }

  // Products beyond k, up to the next multiple of a step, were added. Their factors should be 0.
  std::string nonzero_beyond_k() const {
    for (const int step : {16, 32, 64}) {
      const int more = (step - p_.k % step) % step;
      if (more == 0) continue;
      const auto of_first = [&](int y, int x) {
        double chunk = 0;
        for (int i = 0; i < 8; ++i) chunk += a_at(0, i) * b_at(0, x % 8);
        return expected(y, x) + more / 8 * chunk;
      };
      const auto of_last = [&](int y, int x) {
        double chunk = 0;
        for (int i = p_.k - 8; i < p_.k; ++i) chunk += a_at(y, i) * b_at(p_.k - 1, x);
        return expected(y, x) + more / 8 * chunk;
      };
      if (is_everywhere(of_first) || is_everywhere(of_last))
        return "this happens if elements beyond k are copies of others, and not 0: what is "
               "written to the tiles for k = " +
               std::to_string(p_.k) + " and on?";
    }
    return "";
  }

  std::string zeros() const {
    if (!std::ranges::all_of(wrong_, [&](place at) { return found(at) == 0; })) return "";
    return "every wrong element is 0: does the loop add products for this k, were the operands "
           "loaded, does each tile that wgmma reads begin at a multiple of 1024 bytes, and is each "
           "sum stored in its own row and column?";
  }

  std::string another_product() const {
    const std::size_t m = p_.m, n = p_.n, k = p_.k;
    if (is_everywhere([&](int y, int x) { return sum(y, x, k, 1, 1, k); }))
      return "this is a times transposed b: which index of b is k, and does ldmatrix of b need "
             ".trans?";
    if (is_everywhere([&](int y, int x) { return sum(y, x, 1, m, n, 1); }))
      return "this is transposed a times b: which index of a is k?";
    if (m == n && is_everywhere([&](int y, int x) { return expected(x, y); }))
      return "this is the product transposed: are row and col swapped?";
    const auto swapped = [&](int y, int x) {
      double total = 0;
      for (int i = 0; i < std::max(p_.m, p_.n); ++i) total += b_at(y, i) * a_at(i, x);
      return total;
    };
    if (is_everywhere(swapped)) return "this is b times a: are the two operands swapped?";
    return "";
  }

  double partial(int row, int col, int first, int last) const {
    double total = 0;
    for (int i = first; i < last; ++i)
      total += double(p_.a[std::size_t(row) * p_.k + i]) * p_.b[std::size_t(i) * p_.n + col];
    return total;
  }

  // The products from some multiple of 8 on, or those before it, are missing.
  std::string without_an_end() const {
    for (int end = 8; end < p_.k; end += 8) {
      if (is_right(p_, found(wrong_[0]), partial(wrong_[0].row, wrong_[0].col, 0, end)) &&
          is_everywhere([&](int y, int x) { return partial(y, x, 0, end); }))
        return "the products from k = " + std::to_string(end) +
               " on are missing: does the loop round up for a k that is not a multiple of its "
               "step?";
      if (is_right(p_, found(wrong_[0]), partial(wrong_[0].row, wrong_[0].col, end, p_.k)) &&
          is_everywhere([&](int y, int x) { return partial(y, x, end, p_.k); }))
        return "the products before k = " + std::to_string(end) +
               " are missing: is every step added to sums that begin before the loop?";
    }
    return "";
  }

  // The 16, 32 or 64 products of a step are missing, or replaced by those of the step before or
  // after.
  std::string a_step_is_missing() const {
    for (const int step : {16, 32, 64}) {
      for (int first = 0; first < p_.k; first += step) {
        const int last = std::min(p_.k, first + step);
        if (first == 0 && last == p_.k) continue;  // see zeros()
        const auto left = [&](int y, int x) { return expected(y, x) - partial(y, x, first, last); };
        if (is_right(p_, found(wrong_[0]), left(wrong_[0].row, wrong_[0].col)) &&
            is_everywhere(left))
          return "the products of k = " + std::to_string(first) + " to " +
                 std::to_string(last - 1) + " are missing";
        for (const int by : {first - step, first + step}) {
          if (by < 0 || by + step > p_.k) continue;
          const auto again = [&](int y, int x) {
            return left(y, x) + partial(y, x, by, by + step);
          };
          if (is_right(p_, found(wrong_[0]), again(wrong_[0].row, wrong_[0].col)) &&
              is_everywhere(again))
            return "this happens if the tiles of k = " + std::to_string(by) +
                   " are used again for k = " + std::to_string(first) +
                   ": was the stage full, and of the right round?";
        }
      }
    }
    return "";
  }

  std::string multiple() const {
    if (!is_everywhere([&](int y, int x) { return 2 * expected(y, x); })) return "";
    return "this is 2 times the product: is every product added twice?";
  }

  std::string wrongly_rounded() const {
    const bool truncated = std::ranges::all_of(wrong_, [&](place at) {
      const auto sum = static_cast<float>(expected(at.row, at.col));
      return found(at) == as_float(static_cast<bf16>(std::bit_cast<std::uint32_t>(sum) >> 16));
    });
    if (p_.of != kind::whole || !truncated) return "";
    return "the sums are truncated, not rounded: __float2bfloat16() rounds to the nearest value";
  }

  std::string imprecise() const {
    double largest = 0;
    for (const double value : expected_) largest = std::max(largest, std::abs(value));
    if (!std::ranges::all_of(wrong_, [&](place at) {
          return std::abs(found(at) - expected(at.row, at.col)) <= 0.05 * largest;
        }))
      return "";
    return "close, but less precise than a float32 sum that is rounded once: are sums kept in "
           "bfloat16 or half?";
  }

  // "64 rows up", "8 rows down and 16 columns left"
  static std::string distance(int rows, int cols) {
    const std::string down = std::to_string(std::abs(rows)) + " rows " + (rows < 0 ? "up" : "down");
    const std::string right =
        std::to_string(std::abs(cols)) + " columns " + (cols < 0 ? "left" : "right");
    if (cols == 0) return down;
    return rows == 0 ? right : down + " and " + right;
  }

  // Right sums that were stored at a constant distance from their right place.
  std::string moved() const {
    for (int dy = -128; dy <= 128; dy += 8) {
      for (int dx = -256; dx <= 256; dx += 8) {
        if (dy == 0 && dx == 0) continue;
        const auto there = [&](place at) {
          const int y = at.row + dy, x = at.col + dx;
          return y >= 0 && y < p_.m && x >= 0 && x < p_.n &&
                 is_right(p_, found(at), expected(y, x));
        };
        if (wrong_.size() > 16 && there(wrong_[0]) && std::ranges::all_of(wrong_, there))
          return "the sums are right, but belong " + distance(dy, dx) +
                 ": is the offset of the fragment, warp or warpgroup right?";
      }
    }
    return "";
  }

  const product& p_;
  std::vector<double> expected_;
  std::vector<place> wrong_;
};

class gemm_problem : public problem {
 public:
  problem_call make_call(const size& s, std::uint64_t seed) const override {
    const auto [m, n, k] = checked(s);
    problem_call call;
    call.label = std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                 ", seed " + std::to_string(seed);
    call.scalars = {m, n, k};
    call.add_input("a", bytes_of(m, k));
    call.add_input("b", bytes_of(k, n));
    call.add_output("c", bytes_of(m, n));
    for (auto& buffer : call.buffers) buffer.element_bytes = sizeof(bf16);
    const auto values = [&](int i) -> std::span<bf16> {
      auto& data = call.buffers[i].data;
      return {reinterpret_cast<bf16*>(data.data()), data.size() / sizeof(bf16)};
    };
    const random_stream random = stream_for(seed, (std::uint64_t(m) * 31 + n) * 31 + k);
    const auto a = random.part(stream_a), b = random.part(stream_b);
    // The two kinds alternate over a lab's sizes; the next seed swaps them.
    if (((m + n + k) / 8 + seed) % 2 == 0) {
      fill_with_whole(values(0), largest_whole(k), a);
      fill_with_whole(values(1), largest_whole(k), b);
    } else {
      fill_with_real(values(0), a);
      fill_with_real(values(1), b);
    }
    return call;
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    if (outputs.size() != 1 || outputs[0].size() != call.buffers.at(2).bytes)
      return "gemm: expected one output of " + std::to_string(call.buffers.at(2).bytes) + " bytes";
    const std::vector<float> a = floats_of(elements_of(call.buffers[0].data)),
                             b = floats_of(elements_of(call.buffers[1].data));
    const product p = product_of(call, a, b, outputs[0]);
    const bool small = double(p.m) * p.n * p.k <= most_recomputed;
    const auto wrong =
        small ? compare_all(p)
              : compare_quickly(p, random_stream(std::hash<std::string>{}(call.label)));
    if (!wrong) return std::nullopt;
    if (wrong->whole_row)
      return "gemm: row " + std::to_string(wrong->row) +
             " of c is less precise than a float32 sum that is rounded once (" + call.label + ")";
    std::string message = "gemm: " + element(wrong->row, wrong->col) + " = " +
                          decimal(p.found(wrong->row, wrong->col)) + ", expected ";
    message += p.of == kind::whole ? decimal(as_float(rounded(static_cast<float>(wrong->expected))))
                                   : decimal(wrong->expected) + " +- " +
                                         decimal(largest_error(p.k, wrong->expected));
    message += " (" + call.label + ")";
    return small ? message + wrong_product(p).looks_like() : message;
  }

  std::string explain(const problem_call& call, const results& outputs,
                      const further_call& again) const override {
    const std::vector<float> a = floats_of(elements_of(call.buffers[0].data)),
                             b = floats_of(elements_of(call.buffers[1].data));
    return used_elements(product_of(call, a, b, outputs.at(0)), call, again).text();
  }

  // Each product takes a multiplication and an addition. Two matrices are read, one is written.
  problem_work work(const size& s) const override {
    const auto [m, n, k] = checked(s);
    const double flop = 2.0 * m * n * k;
    return {bytes_of(m, k) + 0.0 + bytes_of(k, n) + bytes_of(m, n), flop, "flop", flop, "flop"};
  }

 private:
  static std::span<const bf16> elements_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const bf16*>(bytes.data()), bytes.size() / sizeof(bf16)};
  }
  static product product_of(const problem_call& call, std::span<const float> a,
                            std::span<const float> b, std::span<const std::byte> c) {
    const bool whole = are_whole(a) && are_whole(b);
    return {static_cast<int>(call.scalars.at(0)),
            static_cast<int>(call.scalars.at(1)),
            static_cast<int>(call.scalars.at(2)),
            a,
            b,
            elements_of(c),
            whole ? kind::whole : kind::real};
  }
  static std::size_t bytes_of(std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(rows * cols) * sizeof(bf16);
  }

  static std::array<int, 3> checked(const size& s) {
    const auto is_allowed = [](std::int64_t number) {
      return number >= 8 && number <= largest_size && number % 8 == 0;
    };
    constexpr std::int64_t most = 1ll << 31;
    if (s.size() != 3 || !std::ranges::all_of(s, is_allowed) || s[0] * s[1] >= most ||
        s[0] * s[2] >= most || s[1] * s[2] >= most)
      throw std::invalid_argument(
          "gemm: a size is m x n x k, multiples of 8 from 8 to 65536, and no matrix has 2^31 "
          "elements or more");
    return {static_cast<int>(s[0]), static_cast<int>(s[1]), static_cast<int>(s[2])};
  }
};

}  // namespace

STEPWISE_PROBLEM(gemm_problem)
}  // namespace stepwise
