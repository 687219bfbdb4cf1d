// Uses further calls to find which elements of a and b a wrong product multiplies.
//
// idea    If b is the identity, c shows the elements of a that the kernel uses. Two such calls
//         identify them: a contains its row numbers in one call, and its column numbers in the
//         other. If a is the identity, c shows the elements of b. If both show the same places, the
//         sums are right, but stored at other places. The explanation must agree with the wrong
//         product.
// tested  labs/gemm/tests/problem_test.cpp
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/lab/problem.hpp"
#include "labs/gemm/product_check.hpp"

namespace stepwise::gemm_lab {

class used_elements {
 public:
  used_elements(const product& p, const problem_call& call, const problem::further_call& again)
      : p_(p), call_(call), again_(again) {}

  // "the sums use a[0][8] instead of a[1][0]: ...". Empty if the calls show nothing.
  std::string text() {
    constexpr int most = 256;  // bfloat16 represents these whole numbers exactly
    if (std::max({p_.m, p_.n, p_.k}) > most) return "";
    const auto same = again_(call_);
    if (!same || !std::ranges::equal(same->at(0), std::as_bytes(p_.c))) return "";
    const auto of_a = places_in(0), of_b = places_in(1);
    if (of_a.empty() || of_b.empty()) return "";
    const bool wrong_a = is_moved(of_a, p_.k), wrong_b = is_moved(of_b, p_.n);
    if (wrong_a && wrong_b) return stored_elsewhere(of_a, of_b);
    if (!wrong_a && !wrong_b) return "";
    for (int y = 0; y < p_.m; ++y) {
      for (int x = 0; x < p_.n; ++x) {
        double sum = 0;
        for (int i = 0; i < p_.k; ++i)
          sum += value(p_.a, of_a[index(y, i, p_.k)], p_.k) *
                 value(p_.b, of_b[index(i, x, p_.n)], p_.n);
        if (!is_right(p_, p_.found(y, x), sum)) return "";
      }
    }
    return wrong_a ? used_elsewhere("a", of_a, p_.k) : used_elsewhere("b", of_b, p_.n);
  }

 private:
  struct place {
    int row = -1, col = -1;  // -1: none, since 0 is used
    bool is_zero() const { return row < 0; }
    bool operator==(const place&) const = default;
  };
  using places = std::vector<place>;  // by the element that belongs there, in row-major order
  static constexpr int tile = 16;

  static std::size_t index(int row, int col, int cols) {
    return static_cast<std::size_t>(row) * cols + col;
  }
  static double value(std::span<const float> matrix, const place& at, int cols) {
    return at.is_zero() ? 0 : matrix[index(at.row, at.col, cols)];
  }
  static std::string element(const char* matrix, const place& at) {
    if (at.is_zero()) return "0";
    return std::string(matrix) + "[" + std::to_string(at.row) + "][" + std::to_string(at.col) + "]";
  }
  template <class Function>
  static void for_moved(const places& seen, int cols, Function function) {
    for (int i = 0; i < static_cast<int>(seen.size()); ++i) {
      const place own{i / cols, i % cols};
      if (!(seen[i] == own)) function(own, seen[i]);
    }
  }
  static bool is_moved(const places& seen, int cols) {
    bool moved = false;
    for_moved(seen, cols, [&](const place&, const place&) { moved = true; });
    return moved;
  }

  std::span<bf16> values(int input) {
    auto& data = call_.buffers[input].data;
    return {reinterpret_cast<bf16*>(data.data()), data.size() / sizeof(bf16)};
  }

  // Which elements of a (0) or b (1) are used. Empty if a call fails, or shows several elements at
  // one place.
  places places_in(int input) {
    const int rows = input == 0 ? p_.m : p_.k, cols = input == 0 ? p_.k : p_.n;
    places seen(index(rows, 0, cols));
    // The identity covers as much of k as c has columns (for a) or rows (for b). It begins at a
    // multiple of a tile, so that it stays the identity if quarters of its tiles are exchanged.
    const int covered = input == 0 ? p_.n : p_.m;
    const int step = covered < tile ? covered : covered - covered % tile;
    for (int first = 0; first < p_.k; first += step) {
      const int last = std::min(p_.k, first + step);
      std::ranges::fill(values(1 - input), bf16{0});
      for (int i = first; i < last; ++i)
        values(1 - input)[input == 0 ? index(i, i - first, p_.n) : index(i - first, i, p_.k)] =
            rounded(1);
      for (const bool by_row : {true, false}) {
        for (std::size_t i = 0; i < values(input).size(); ++i) {
          const auto number = static_cast<int>(by_row ? i / cols : i % cols);
          values(input)[i] = rounded(static_cast<float>(number + 1));
        }
        const auto outputs = again_(call_);
        if (!outputs) return {};
        const auto* const c = reinterpret_cast<const bf16*>(outputs->at(0).data());
        for (int y = 0; y < p_.m; ++y) {
          for (int x = 0; x < p_.n; ++x) {
            const int i = first + (input == 0 ? x : y);
            if (i >= last) continue;
            const float found = as_float(c[p_.at(y, x)]);
            const float most = static_cast<float>(by_row ? rows : cols);
            if (!(found >= 0 && found <= most && found == std::trunc(found))) return {};
            place& at = seen[input == 0 ? index(y, i, cols) : index(i, x, cols)];
            (by_row ? at.row : at.col) = static_cast<int>(found) - 1;
          }
        }
      }
    }
    return seen;
  }

  // Whether all elements come from their own tile of 16 x 16 elements.
  static bool stays_in_tile(const places& seen, int cols) {
    bool stays = true;
    for_moved(seen, cols, [&](const place& own, const place& other) {
      if (!other.is_zero())
        stays &= own.row / tile == other.row / tile && own.col / tile == other.col / tile;
    });
    return stays;
  }

  static std::string used_elsewhere(const char* matrix, const places& seen, int cols) {
    std::optional<place> own, other;  // the first place that another element takes
    bool same_col = true, same_distance = true;
    for_moved(seen, cols, [&](const place& at, const place& used) {
      if (used.is_zero()) return;
      if (!own) {
        own = at;
        other = used;
      }
      same_col &= at.col == used.col;
      same_distance &= at.row - used.row == own->row - other->row;
    });
    if (!own) return "";
    const std::string start =
        "the sums use " + element(matrix, *other) + " instead of " + element(matrix, *own);
    if (stays_in_tile(seen, cols))
      return start + ", from the same 16 x 16 tile of " + matrix +
             ": does each lane pass the row that the fragment's layout assigns to it?";
    if (same_col && same_distance)
      return start +
             ": is the offset of the warp or warpgroup right, and does it count whole rows?";
    const bool is_panel = matrix[0] == 'b' && own->row == 0 && own->col == 64;
    return start + (is_panel ? ": b's tile has panels of 64 columns. Does its descriptor come from "
                               "descriptor_of_b()?"
                             : std::string(": is each index right where the tile of ") + matrix +
                                   " is written and where it is read, and do its descriptors "
                                   "describe this tile?");
  }

  // The sums are right, but at other places: an element of c shows the element of a and of b at
  // the same place. Loading other rows of a has the same effect as storing to other rows of c, and
  // loading other columns of b has the same effect as storing to other columns of c.
  std::string stored_elsewhere(const places& of_a, const places& of_b) const {
    std::optional<place> own, other;
    bool stays = true, same_row = true, same_col = true;
    for (int y = 0; y < p_.m; ++y) {
      for (int x = 0; x < p_.n; ++x) {
        const bool in_a = x < p_.k, in_b = y < p_.k;
        if (!in_a && !in_b) continue;
        const place at = in_a ? of_a[index(y, x, p_.k)] : of_b[index(y, x, p_.n)];
        if (in_a && in_b && !(at == of_b[index(y, x, p_.n)])) return "";
        if (at.is_zero() || at.row >= p_.m || at.col >= p_.n) continue;  // perhaps not written
        if (!is_right(p_, p_.found(y, x), expected_element(p_, at.row, at.col))) return "";
        if (at == place{y, x}) continue;
        if (!own) {
          own = place{y, x};
          other = at;
        }
        stays &= y / tile == at.row / tile && x / tile == at.col / tile;
        same_row &= y == at.row;
        same_col &= x == at.col;
      }
    }
    if (!own) return "";
    const std::string sides = same_col   ? "load the rows of a and store the rows of c"
                              : same_row ? "load the columns of b and store the columns of c"
                                         : "store its sums in the rows and columns";
    return element("c", *own) + " holds the sum that belongs in " + element("c", *other) +
           (stays ? ", in the same 16 x 16 tile: does each lane " + sides +
                        " that the fragment's layout assigns to it?"
                  : std::string(": is the offset of the warp or warpgroup right where operands are "
                                "loaded and where sums are stored?"));
  }

  const product& p_;
  problem_call call_;
  const problem::further_call& again_;
};

}  // namespace stepwise::gemm_lab
