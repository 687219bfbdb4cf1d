// Finds the stage of a wrong result from its results for further pictures.
//
// idea    A picture of one value has no edges inside, whatever the weights of the blur are. A ramp
//         is its own blur inside, and its edges are as long as Sobel's weights make them. A
//         picture of greys does not show how colours become grey.
// tested  labs/blur/tests/problem_test.cpp
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/lab/problem.hpp"
#include "labs/blur/reference.hpp"

namespace stepwise::blur_lab {

class further_pictures {
 public:
  further_pictures(const problem_call& call, const problem::further_call& again)
      : call_(call), again_(again), width_(call.scalars.at(0)), height_(call.scalars.at(1)) {}

  std::string text(const grey_picture& grey, const std::vector<std::byte>& found) {
    constexpr std::int64_t least = 24;  // columns and rows, so that most pixels are inside
    if (width_ < least || height_ < least) return "";
    const auto same = again_(call_);
    if (!same || same->at(0) != found) return "";
    if (is_right_everywhere(grey))
      return "pictures that have no colours are right: look at the grey stage";
    if (std::string text = of_one_value(); !text.empty()) return text;
    const std::string across = of_ramp("column", [](auto x, auto) { return x; });
    const std::string down = of_ramp("row", [](auto, auto y) { return y; });
    if (is_over_) return "";
    if (!across.empty() || !down.empty()) return across.empty() ? down : across;
    const bool is_right_across = is_right_inside([](auto x, auto) { return x; });
    const bool is_right_down = is_right_inside([](auto, auto y) { return y; });
    if (is_over_) return "";
    const std::string begin = "the weights have the right sums, but ";
    if (is_right_across && is_right_down)
      return begin +
             "pixels are wrong if a picture changes both along x and along y: is the column "
             "of every pixel of the 7 x 7, or the 3 x 3, taken with i, and its row with j?";
    if (is_right_across || is_right_down)
      return begin + "pixels are wrong if a picture changes along " +
             (is_right_across ? "y" : "x") + ", and right if it changes only along " +
             (is_right_across ? "x" : "y") + ": which " + (is_right_across ? "row" : "column") +
             " does each product of the blur, or of g" + (is_right_across ? "y" : "x") + ", take?";
    return begin +
           "a weight is at the wrong pixel, or a sum gets more than its products, in the blur or "
           "in gx and "
           "gy";
  }

  // Whether a picture whose values change only along x, or only along y, is right inside.
  template <class Place>
  bool is_right_inside(const Place& place) {
    grey_picture p(width_, height_);
    p.fill([&](auto x, auto y) { return static_cast<byte>(place(x, y) * place(x, y) * 37 % 191); });
    const auto out = result(p);
    if (!out) return false;
    const grey_picture right = right_result();
    bool is_right = true;
    each_inside([&](auto x, auto y) { is_right = is_right && out->at(x, y) == right.at(x, y); });
    return is_right;
  }

 private:
  // The next value, at or below this one, that a colour of three such values has as its grey value.
  // The rounding of the grey stage makes some values one less.
  static byte plain_grey(byte value) {
    for (;; --value) {
      const byte colour[] = {value, value, value};
      if (value == 0 || static_cast<byte>(grey_value(colour)) == value) return value;
    }
  }

  // The result for this picture, drawn in greys. Empty if the call fails.
  std::optional<grey_picture> result(const grey_picture& p) {
    for (std::size_t i = 0; i < p.data.size(); ++i)
      for (int c = 0; c < 3; ++c)
        call_.buffers[0].data[4 * i + c] = static_cast<std::byte>(plain_grey(p.data[i]));
    const auto outputs = again_(call_);
    is_over_ = is_over_ || !outputs;
    if (is_over_) return std::nullopt;
    grey_picture out(width_, height_);
    std::transform(outputs->at(0).begin(), outputs->at(0).end(), out.data.begin(),
                   [](std::byte b) { return static_cast<byte>(b); });
    return out;
  }

  // The right result for the picture of the last call.
  grey_picture right_result() const {
    return edges_of(blurred(grey_of(call_.buffers[0].data, width_, height_)));
  }

  bool is_right_everywhere(const grey_picture& p) {
    const auto out = result(p);
    return out && out->data == right_result().data;
  }

  // Calls look(x, y) for pixels whose result does not depend on the border.
  template <class Look>
  void each_inside(const Look& look) const {
    constexpr std::int64_t reach = 4;
    for (std::int64_t y = reach; y < height_ - reach; ++y)
      for (std::int64_t x = reach; x < width_ - reach; ++x) look(x, y);
  }

  static std::string at(std::int64_t x, std::int64_t y) {
    return "out[" + std::to_string(y) + "][" + std::to_string(x) + "]";
  }

  // Rows, or columns, that have edges: "rows 4, 8, 12, ...", "rows 26 to 55". Empty if these are
  // most of them, but not the last ones.
  static std::string list(const std::string& lines, const std::vector<bool>& have) {
    std::vector<std::size_t> numbers;
    for (std::size_t k = 0; k < have.size(); ++k)
      if (have[k]) numbers.push_back(k);
    const bool is_range = numbers.back() - numbers.front() + 1 == numbers.size();
    if (is_range && numbers.size() > 1 && numbers.size() + 8 < have.size())
      return "in " + lines + " " + std::to_string(numbers.front()) + " to " +
             std::to_string(numbers.back());
    if (2 * numbers.size() > have.size()) return "";
    std::string text;
    constexpr std::size_t most = 6;
    for (std::size_t k = 0; k < std::min(numbers.size(), most); ++k)
      text += (k == 0 ? " " : ", ") + std::to_string(numbers[k]);
    const std::string name = numbers.size() == 1 ? lines.substr(0, lines.size() - 1) : lines;
    return "in " + name + text + (numbers.size() > most ? ", ..." : "");
  }

  std::string of_one_value() {
    grey_picture flat(width_, height_);
    std::ranges::fill(flat.data, static_cast<byte>(64));
    const auto out = result(flat);
    if (!out) return "";
    std::vector<bool> rows(height_), columns(width_);
    std::int64_t wrong = 0, all = 0;
    each_inside([&](std::int64_t x, std::int64_t y) {
      ++all;
      if (out->at(x, y) == 0) return;
      ++wrong;
      rows[y] = columns[x] = true;
    });
    if (wrong == 0) return "";
    const std::string begin = "a picture of one grey value has edges inside, ";
    if (wrong == all) {
      bool are_equal = true;
      const int first = out->at(width_ / 2, height_ / 2);
      each_inside([&](auto x, auto y) { are_equal = are_equal && out->at(x, y) == first; });
      return begin + (are_equal
                          ? "equal ones at every pixel: the weights of gx, or those of gy, do "
                            "not add up to 0"
                          : "at every pixel, but not equal ones: is every sum set to 0 before "
                            "a pixel, or a row, is added?");
    }
    std::string where = list("rows", rows);
    if (where.empty()) where = list("columns", columns);
    if (!where.empty())
      return begin + where + ": what does a thread, or a block, do differently there?";
    return begin + "at " + std::to_string(wrong) + " of " + std::to_string(all) +
           " pixels: is every pixel of a tile loaded, and every sum set to 0 before it is used?";
  }

  // A picture that grows by 1 per column or row, as far as all values are plain greys.
  template <class Place>
  std::string of_ramp(const char* line, const Place& place) {
    constexpr std::int64_t darkest = 103, brightest = 154;
    grey_picture ramp(width_, height_);
    ramp.fill([&](auto x, auto y) {
      return static_cast<byte>(std::min(darkest + place(x, y), brightest));
    });
    const auto out = result(ramp);
    if (!out) return "";
    const grey_picture right = right_result();
    // Columns, or rows, that are not near the end of the ramp.
    const auto is_ramp = [&](auto x, auto y) {
      constexpr std::int64_t reach = 4;
      return place(x, y) + reach < brightest - darkest;
    };
    std::string wrong;
    int least = 255, most = 0;
    each_inside([&](std::int64_t x, std::int64_t y) {
      if (!is_ramp(x, y)) return;
      const int value = out->at(x, y);
      least = std::min(least, value);
      most = std::max(most, value);
      if (wrong.empty() && value != right.at(x, y))
        wrong = at(x, y) + " is " + std::to_string(value) + ", expected " +
                std::to_string(right.at(x, y));
    });
    if (wrong.empty()) return "";
    const std::string begin =
        std::string("in a picture that grows by 1 per ") + line + ", " + wrong + ": ";
    // Wrong weights leave another ramp, whose edges differ only by the rounding of the blur.
    constexpr int rounding = 4;
    if (most - least <= rounding)
      return begin + "which of the weights of g" + (line[0] == 'c' ? "x" : "y") +
             " is wrong, has the wrong sign or the wrong place, or does not add up to 256 in the "
             "blur?";
    return begin + "other pixels are from " + std::to_string(least) + " to " +
           std::to_string(most) +
           ", which a wrong weight alone seldom causes. Is every pixel read from and stored at its "
           "own place (the length of a row, the order of packed bytes), and does every sum fit "
           "into its bits?";
  }

  problem_call call_;
  const problem::further_call& again_;
  std::int64_t width_, height_;
  bool is_over_ = false;  // no further call is possible
};

}  // namespace stepwise::blur_lab
