// Recognises rows or columns of the blurred picture that a thread confuses.
//
// idea    A row of the result follows from three rows of the blurred picture. If each of these rows
//         holds some row of the right blurred picture, the result shows which: two of them are
//         known from the row above, and the third is searched. Columns are rows of the turned
//         picture, because a turned picture has the turned edges.
// tested  labs/blur/tests/problem_test.cpp
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/blur/reference.hpp"

namespace stepwise::blur_lab {

// The picture with x and y exchanged.
inline grey_picture with_axes_exchanged(const grey_picture& p) {
  grey_picture turned(p.height, p.width);
  for (std::int64_t y = 0; y < p.height; ++y)
    for (std::int64_t x = 0; x < p.width; ++x)
      turned.data[x * p.height + y] = p.data[y * p.width + x];
  return turned;
}

class wrong_lines {
 public:
  // `line` is "row" or "column". The caller keeps the pictures: the grey one, its blurred one, and
  // the result.
  wrong_lines(const grey_picture& grey, const grey_picture& soft, const grey_picture& found,
              const char* line)
      : grey_(grey), soft_(soft), found_(found), line_(line) {}

  std::string text() const {
    const std::string sums = sums_carried_over();
    return sums.empty() ? moved() : sums;
  }

 private:
  static constexpr std::int64_t least = 16;  // rows that have to follow the rule

  // A thread computes several rows in a loop, and its sum is not 0 when the next one begins.
  std::string sums_carried_over() const {
    std::vector<int> sums(soft_.data.size());
    for (std::int64_t y = 0; y < soft_.height; ++y)
      for (std::int64_t x = 0; x < soft_.width; ++x)
        for (int j = -3; j <= 3; ++j)
          for (int i = -3; i <= 3; ++i)
            sums[y * soft_.width + x] +=
                blur_rule::pyramid[j + 3] * blur_rule::pyramid[i + 3] * grey_.at(x + i, y + j);
    for (const std::int64_t rows : {2, 4, 8, 16, 32}) {
      grey_picture p(soft_.width, soft_.height);
      for (std::int64_t x = 0; x < soft_.width; ++x) {
        int sum = 0;
        for (std::int64_t y = 0; y < soft_.height; ++y) {
          const std::size_t at = y * soft_.width + x;
          sum = sums[at] + (y % rows == 0 ? 0 : sum);
          p.data[at] = static_cast<byte>(sum >> 8);
        }
      }
      if (edges_of(p).data == found_.data)
        return "in the blurred picture, the first of every " + std::to_string(rows) + " " + line_ +
               "s is right, and each of the next adds its sum to the one before: is the blur's sum "
               "set to 0 for every pixel of a thread?";
    }
    return "";
  }

  // The edge of pixel (x, y) if the blurred picture has these rows above it, at it and below it.
  byte edge(std::int64_t x, const std::int64_t (&rows)[3]) const {
    const auto at = [&](int dx, int row) { return soft_.at(x + dx, rows[row]); };
    const int gx = at(1, 0) + 2 * at(1, 1) + at(1, 2) - at(-1, 0) - 2 * at(-1, 1) - at(-1, 2);
    const int gy = at(-1, 2) + 2 * at(0, 2) + at(1, 2) - at(-1, 0) - 2 * at(0, 0) - at(1, 0);
    return static_cast<byte>(edge_length(gx, gy));
  }

  bool is_row(std::int64_t y, std::int64_t above, std::int64_t own, std::int64_t below) const {
    const std::int64_t rows[] = {above, own, below};
    for (std::int64_t x = 0; x < found_.width; ++x)
      if (edge(x, rows) != found_.data[y * found_.width + x]) return false;
    return true;
  }

  // Appends to the rows that the blurred picture holds from row 0 on, as long as one fits.
  void follow(std::vector<std::int64_t>& held) const {
    for (std::int64_t y = std::ssize(held) - 1; y < found_.height - 1; ++y) {
      const std::int64_t above = y == 0 ? -1 : held[y - 1];
      std::int64_t next = 0;
      while (next < soft_.height && !is_row(y, above, held[y], next)) ++next;
      if (next == soft_.height) return;
      held.push_back(next);
    }
  }

  std::string moved() const {
    constexpr std::int64_t most = 256;  // rows; their number decides how long the search takes
    if (soft_.height < least || soft_.height > most || soft_.width < least) return "";
    std::vector<std::int64_t> best;
    for (std::int64_t first = 0; first < soft_.height; ++first) {
      std::vector<std::int64_t> held = {first};
      follow(held);
      if (held.size() > best.size()) best = std::move(held);
    }
    std::int64_t first_wrong = 0;
    while (first_wrong < std::ssize(best) && best[first_wrong] == first_wrong) ++first_wrong;
    if (std::ssize(best) < least || first_wrong == std::ssize(best)) return "";
    std::string rows, hold;
    const std::int64_t begin = std::max<std::int64_t>(0, first_wrong - 4);
    for (std::int64_t y = begin; y < std::min<std::int64_t>(begin + 8, std::ssize(best)); ++y) {
      rows += (rows.empty() ? "" : ", ") + std::to_string(y);
      hold += (hold.empty() ? "" : ", ") + std::to_string(best[y]);
    }
    return std::string("the blurred picture's ") + line_ + "s " + rows + " hold the blurred " +
           line_ + "s " + hold + ": does a thread use the same " + line_ +
           " for its pixel k in every index, when it reads, adds and stores?";
  }

  const grey_picture &grey_, &soft_, &found_;
  std::string line_;
};

}  // namespace stepwise::blur_lab
