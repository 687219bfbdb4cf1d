// Names the likely mistake in a wrong result of the blur lab.
//
// idea    A result does not show the pictures between the stages. So the pipeline is run again with
//         one common mistake at a time, and a mistake is named only if it leaves exactly this
//         result. If none does, the places and the sizes of the differences are described.
// tested  labs/blur/tests/problem_test.cpp
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/lab/problem.hpp"
#include "common/lab/whole_blocks.hpp"
#include "labs/blur/reference.hpp"
#include "labs/blur/wrong_lines.hpp"

namespace stepwise::blur_lab {

class wrong_edges {
 public:
  // The colours and the reference's three pictures, and a result that differs from the last one.
  // The caller keeps all of them.
  wrong_edges(std::span<const std::byte> rgba, const grey_picture& grey, const grey_picture& soft,
              const grey_picture& right, std::span<const byte> found)
      : rgba_(rgba),
        grey_(grey),
        soft_(soft),
        right_(right),
        found_(found),
        width_(right.width),
        height_(right.height) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] == right.data[i]) continue;
      if (wrong_++ == 0) first_ = static_cast<std::int64_t>(i);
      last_ = static_cast<std::int64_t>(i);
      largest_ = std::max(largest_, std::abs(found[i] - right.data[i]));
    }
  }

  std::string first() const {
    return "out[" + std::to_string(first_ / width_) + "][" + std::to_string(first_ % width_) +
           "] = " + std::to_string(found_[first_]) + ", expected " +
           std::to_string(right_.data[first_]);
  }

  std::string looks_like() const {
    for (const auto rule :
         {&wrong_edges::one_value, &wrong_edges::other_stage, &wrong_edges::known_mistake,
          &wrong_edges::shifted, &wrong_edges::part_missing, &wrong_edges::nothing_inside,
          &wrong_edges::at_the_border, &wrong_edges::off_by_little, &wrong_edges::between_blocks}) {
      if (const std::string text = (this->*rule)(); !text.empty()) return text;
    }
    return of_all() + ", by up to " + std::to_string(largest_) + ", in rows " +
           std::to_string(first_ / width_) + " to " + std::to_string(last_ / width_) + ", " +
           no_known_pattern;
  }

 private:
  bool is(const grey_picture& p) const {
    return std::equal(found_.begin(), found_.end(), p.data.begin());
  }

  std::string of_all() const {
    return std::to_string(wrong_) + " of " + std::to_string(found_.size()) + " pixels " +
           (wrong_ == 1 ? "is" : "are") + " wrong";
  }

  // Calls look(x, y) for every wrong pixel.
  template <class Look>
  void each_wrong(const Look& look) const {
    for (std::int64_t i = first_; i <= last_; ++i)
      if (found_[i] != right_.data[i]) look(i % width_, i / width_);
  }

  // The byte that fills `out` before a call is not 0.
  std::string one_value() const {
    if (found_.size() < 2 || std::ranges::any_of(found_, [&](byte b) { return b != found_[0]; }))
      return "";
    if (found_[0] != 0)
      return "every pixel is " + std::to_string(found_[0]) + ": was anything written to out?";
    return "every pixel is 0, as if the blurred picture were 0 everywhere: does its sum start at "
           "0, "
           "add all 49 products, and become a byte only after the shift?";
  }

  std::string other_stage() const {
    if (is(grey_)) return "this is the grey picture: two stages are missing";
    if (is(soft_)) return "this is the blurred picture: where are its edges?";
    if (is(edges_of(grey_))) return "these are the edges of the grey picture, which is not blurred";
    return "";
  }

  // Each try computes all stages again. In a tiny picture, too many mistakes look alike.
  bool can_try_mistakes() const {
    constexpr std::size_t least = 64, most = std::size_t{1} << 19;
    return found_.size() >= least && found_.size() <= most;
  }

  std::string known_mistake() const {
    if (!can_try_mistakes()) return "";
    if (std::string text = mistake_in_grey(); !text.empty()) return text;
    if (std::string text = mistake_in_blur(); !text.empty()) return text;
    if (std::string text = sides_exchanged(); !text.empty()) return text;
    if (std::string text = mistake_in_edges(); !text.empty()) return text;
    return lines_confused();
  }

  std::string lines_confused() const {
    grey_picture found(width_, height_);
    std::ranges::copy(found_, found.data.begin());
    if (std::string text = wrong_lines(grey_, soft_, found, "row").text(); !text.empty())
      return text;
    const grey_picture grey = with_axes_exchanged(grey_), soft = with_axes_exchanged(soft_);
    found = with_axes_exchanged(found);
    return wrong_lines(grey, soft, found, "column").text();
  }

  // The contract's grey value, with names for the colours.
  static float grey_by_contract(float red, float green, float blue) {
    return std::fmaf(blue, 0.114350f, std::fmaf(red, 0.298839f, green * 0.586811f));
  }

  std::string mistake_in_grey() const {
    constexpr const char* exchanged =
        "the grey stage exchanges two colours: x is red, y is green, z is blue";
    constexpr const char* weights =
        "the grey stage has other weights: the contract's are the floats 0.298839f for red, "
        "0.586811f for green and 0.114350f for blue";
    using formula = double (*)(float r, float g, float b);
    const std::pair<formula, const char*> mistakes[] = {
        {[](float r, float g, float b) -> double { return grey_by_contract(b, g, r); },
         "the grey stage exchanges red and blue: x is red, y is green, z is blue"},
        {[](float r, float g, float b) -> double { return grey_by_contract(g, r, b); }, exchanged},
        {[](float r, float g, float b) -> double { return grey_by_contract(r, b, g); }, exchanged},
        {[](float r, float g, float b) -> double { return grey_by_contract(r, g, b) + 0.5f; },
         "the grey stage rounds to the nearest integer, but the contract truncates"},
        {[](float r, float g, float b) -> double {
           return std::floor(0.298839f * r) + std::floor(0.586811f * g) + std::floor(0.11435f * b);
         },
         "the grey stage truncates each product, but the contract truncates only their sum"},
        {[](float r, float g, float b) -> double {
           return 255 * grey_by_contract(r / 255, g / 255, b / 255);
         },
         "the grey stage divides the colours by 255, which rounds: the contract takes 0 to 255"},
        {[](float r, float g, float b) { return (r + g + b) / 3.0; }, weights},
        {[](float r, float g, float b) { return (30 * r + 59 * g + 11 * b) / 100.0; }, weights},
        {[](float r, float g, float b) { return (299 * r + 587 * g + 114 * b) / 1000.0; }, weights},
        {[](float r, float g, float b) { return (77 * r + 150 * g + 29 * b) / 256.0; }, weights},
    };
    for (const auto& [value, text] : mistakes) {
      if (leaves_grey([&](const byte* p) { return value(p[0], p[1], p[2]); })) return text;
    }
    constexpr std::array<float, 3> right = {0.298839f, 0.586811f, 0.114350f};
    // The rounding depends on the order in which the colours are added.
    std::array<int, 3> order = {0, 1, 2};
    do {
      if (leaves_grey([&](const byte* p) { return fused_sum(p, right, order); }))
        return "the grey stage adds the colours in another order, which rounds differently: the "
               "contract begins with green, adds red and then blue, each with fmaf";
      if (leaves_grey([&](const byte* p) { return sum_of_products(p, right, order); }))
        return "the grey stage rounds each product before it adds it: the contract multiplies and "
               "adds with fmaf, which rounds once";
      constexpr std::array<double, 3> in_double = {0.298839, 0.586811, 0.114350};
      if (leaves_grey([&](const byte* p) { return fused_sum(p, in_double, order); }) ||
          leaves_grey([&](const byte* p) { return sum_of_products(p, in_double, order); }) ||
          leaves_grey([&](const byte* p) { return float(fused_sum(p, in_double, order)); }))
        return "the grey stage computes with doubles: a float constant ends with f, as in "
               "0.114350f";
      for (const std::array<float, 3>& other :
           {std::array{0.299f, 0.587f, 0.114f}, std::array{0.2126f, 0.7152f, 0.0722f}}) {
        if (leaves_grey([&](const byte* p) { return fused_sum(p, other, order); })) return weights;
      }
    } while (std::ranges::next_permutation(order).found);
    return "";
  }

  // Adds the products of colours and weights in this order. Each fma is one multiply-add.
  template <class Real>
  static Real fused_sum(const byte* p, const std::array<Real, 3>& weight,
                        const std::array<int, 3>& order) {
    Real sum = 0;
    for (const int c : order) sum = std::fma(Real(p[c]), weight[c], sum);
    return sum;
  }
  // The same, but each product is rounded: the compiler cannot contract fma(a, b, 0) and the sum.
  template <class Real>
  static Real sum_of_products(const byte* p, const std::array<Real, 3>& weight,
                              const std::array<int, 3>& order) {
    Real sum = 0;
    for (const int c : order) sum += std::fma(Real(p[c]), weight[c], Real(0));
    return sum;
  }

  // True if the result follows from these grey values.
  template <class Value>
  bool leaves_grey(const Value& value) const {
    return is(edges_of(blurred(grey_of(rgba_, width_, height_, value))));
  }

  std::string mistake_in_blur() const {
    using weights = blur_rule::weights;
    constexpr weights all = blur_rule::pyramid, ones = {1, 1, 1, 1, 1, 1, 1};
    constexpr weights no_first = {0, 2, 3, 4, 3, 2, 1}, no_last = {1, 2, 3, 4, 3, 2, 0};
    constexpr weights squares = {1, 4, 9, 16, 9, 4, 1};
    constexpr weights next = {2, 3, 4, 3, 2, 1, 0}, previous = {0, 1, 2, 3, 4, 3, 2};
    const std::pair<blur_rule, const char*> mistakes[] = {
        {{.added = 128},
         "the blur rounds to the nearest integer, but the contract shifts, which truncates"},
        {{.divisor = 49},
         "the blur divides by 49, the number of weights, but the weights add up to 256"},
        {{.across = ones, .down = ones, .divisor = 49},
         "the blur gives all 49 pixels the same weight: the weights are w(i) * w(j)"},
        {{.row_sum_mask = 0xff},
         "the blur keeps only the lowest 8 bits of a row's sum, which can be 4080: what is its "
         "type?"},
        {{.negative_from = 128},
         "the blur takes grey values from 128 on as negative: is a char used for an unsigned "
         "char?"},
        {{.down = no_first}, "the blur leaves out the first row of the 7 x 7: where does j begin?"},
        {{.down = no_last}, "the blur leaves out the last row of the 7 x 7: where does j end?"},
        {{.across = no_first},
         "the blur leaves out the first column of the 7 x 7: where does i begin?"},
        {{.across = no_last},
         "the blur leaves out the last column of the 7 x 7: where does i end?"},
        {{.down = next},
         "the weights of the 7 rows are 2 3 4 3 2 1 0: is their index one too high?"},
        {{.down = previous},
         "the weights of the 7 rows are 0 1 2 3 4 3 2: is their index one too low?"},
        {{.across = next},
         "the weights of the 7 columns are 2 3 4 3 2 1 0: is their index one too high?"},
        {{.across = previous},
         "the weights of the 7 columns are 0 1 2 3 4 3 2: is their index one too low?"},
        {{.across = all, .down = ones, .divisor = 16 * 7},
         "the blur weights the columns, but not the rows"},
        {{.across = squares, .down = ones},
         "the blur takes the weight of the column twice, and that of the row never"},
        {{.across = ones, .down = squares},
         "the blur takes the weight of the row twice, and that of the column never"},
        {{.across = ones}, "the blur adds the 7 columns without their weights"},
        {{.down = ones}, "the blur adds the 7 rows without their weights"},
    };
    const auto leaves_this = [&](const blur_rule& rule) {
      return is(edges_of(blurred(grey_, rule)));
    };
    for (const auto& [rule, text] : mistakes)
      if (leaves_this(rule)) return text;
    for (const int divisor : {64, 128, 255, 512})
      if (leaves_this({.divisor = divisor}))
        return "the blur divides by " + std::to_string(divisor) + ", but the weights add up to 256";
    for (const bool is_limited : {false, true}) {
      for (const int divisor : {1, 2, 4, 8, 16, 32, 64, 128}) {
        const grey_picture p = blurred(grey_, {.divisor = divisor, .is_limited = is_limited});
        const bool is_plain = std::ranges::all_of(p.data, [](byte b) { return b == 255; });
        if (is_plain || !is(edges_of(p))) continue;
        return (divisor == 1 ? "the blur's sum is not divided"
                             : "the blur's sum is divided by " + std::to_string(divisor)) +
               " before it becomes a byte, but the weights add up to 256: is a shift by 8 left "
               "out, or too short?";
      }
    }
    for (const int off : {-1, 1}) {
      for (std::size_t k = 0; k < all.size(); ++k) {
        weights other = all;
        other[k] += off;
        const bool both = leaves_this({.across = other, .down = other});
        if (!both && !leaves_this({.across = other}) && !leaves_this({.down = other})) continue;
        std::string list;
        for (const int w : other) list += " " + std::to_string(w);
        return std::string("the blur's weights of the ") +
               (both                           ? "7 rows and columns"
                : leaves_this({.down = other}) ? "7 rows"
                                               : "7 columns") +
               " are" + list + "; the contract's are 1 2 3 4 3 2 1";
      }
    }
    for (int columns = -3; columns <= 3; ++columns) {
      for (int rows = -3; rows <= 3; ++rows)
        if ((columns != 0 || rows != 0) && leaves_this({.columns_off = columns, .rows_off = rows}))
          return "the blur's 7 x 7 pixels" + begin_at(columns, rows, 3);
    }
    for (int columns = -3; columns <= 3; ++columns) {
      for (int rows = -3; rows <= 3; ++rows) {
        if (columns == 0 && rows == 0) continue;
        const grey_picture soft = blurred(grey_, {.columns_off = columns, .rows_off = rows});
        if (const std::string edges = edges_off(soft); !edges.empty())
          return "the blur's 7 x 7 pixels" + begin_at(columns, rows, 3) + " And " + edges;
      }
    }
    if (std::string text = misplaced(); !text.empty()) return text;
    if (std::string text = axes_exchanged(); !text.empty()) return text;
    if (std::string text = quads_exchanged(); !text.empty()) return text;
    return first_block_again();
  }

  // The pixels of a stage's picture are in wrong places: place i has the pixel of place from(i).
  std::string misplaced() const {
    const std::tuple<const grey_picture*, stage, const char*, const char*> pictures[] = {
        {&grey_, stage::grey, "grey stage", "grey picture"},
        {&soft_, stage::blurred, "blur", "blurred picture"},
        {&right_, stage::edges, "edge stage", "result"}};
    const std::int64_t w = width_, h = height_;
    for (const auto& [whole, of, name, made] : pictures) {
      const auto leaves = [&, p = whole, of = of](const auto& from) {
        grey_picture moved = *p;
        for (std::int64_t i = 0; i < w * h; ++i)
          if (from(i) < w * h) moved.data[i] = p->data[from(i)];
        return is(edges_from(of, std::move(moved)));
      };
      if (leaves([&](auto i) { return i % h * w + i / h; }))
        return std::string("the picture is transposed: the ") + name +
               " stores pixel (x, y) at x * height + y; it belongs at y * width + x";
      if (leaves([&](auto i) { return i / w * h + i % w; }))
        return std::string("pixel (x, y) of the ") + made +
               " comes from place y * height + x; it is at y * width + x: is a row multiplied by "
               "the height, where it is read?";
      for (const std::int64_t side : {4, 2, 8, 16})
        if (leaves([&](auto i) { return i / side * side + side - 1 - i % side; }) ||
            leaves([&](auto i) {
              const std::int64_t x = i % w, to = x / side * side + side - 1 - x % side;
              return i - x + (to < w ? to : x);
            }))
          return std::string("every ") + std::to_string(side) + " pixels of the " + made +
                 " are in reverse order: the lowest byte of a word is the pixel on the left";
    }
    return "";
  }

  // The blur reads a pixel for the one with x and y exchanged.
  std::string axes_exchanged() const {
    if (blur_leaves([](auto x, auto y, int i, int j) { return std::pair(y + j, x + i); }))
      return "the blur reads the grey picture with x and y exchanged: is the index row * width + "
             "column, with y in the row and x in the column?";
    for (std::int64_t cols = 64; cols >= 4; cols /= 2) {
      for (std::int64_t rows = 64; rows >= 2; rows /= 2) {
        if (blur_leaves([&](auto x, auto y, int i, int j) {
              return std::pair(x / cols * cols + y % rows + j, y / rows * rows + x % cols + i);
            }))
          return "every block of " + std::to_string(cols) + " x " + std::to_string(rows) +
                 " pixels blurs a tile in which rows and columns are exchanged: does the row of "
                 "the tile come from y, and its column from x, in the load and in the sum?";
      }
    }
    return "";
  }

  // Shuffles take the four columns on either side from the wrong lanes. Lane 0 is the own one, and
  // -1 and 1 are its neighbours.
  std::string quads_exchanged() const {
    for (const int left : {-1, 0, 1})
      for (const int right : {-1, 0, 1})
        if (std::string text = quads_from(left, right); !text.empty()) return text;
    return "";
  }
  std::string quads_from(int left, int right) const {
    if (left == -1 && right == 1) return "";
    const auto from = [=](std::int64_t x, int i) {
      const std::int64_t quad = (x + i + 4) / 4 - 1 - x / 4;
      return x + i + 4 * (quad < 0 ? left - quad : quad > 0 ? right - quad : 0);
    };
    const auto edges_by = [&](const grey_picture& p) {
      grey_picture out(width_, height_);
      out.fill([&](auto x, auto y) {
        const auto at = [&](int i, int j) { return p.at(from(x, i), y + j); };
        int gx = 0, gy = 0;
        for (int k = -1; k <= 1; ++k) {
          gx += (2 - k * k) * (at(1, k) - at(-1, k));
          gy += (2 - k * k) * (at(k, 1) - at(k, -1));
        }
        return static_cast<byte>(edge_length(gx, gy));
      });
      return out;
    };
    const auto shuffled = [&](auto x, auto y, int i, int j) {
      return std::pair(from(x, i), y + j);
    };
    const char* const stage = blur_leaves(shuffled)                  ? "the blur"
                              : is(edges_by(soft_))                  ? "the edge stage"
                              : is(edges_by(blurred_from(shuffled))) ? "every stage"
                                                                     : nullptr;
    if (stage == nullptr) return "";
    const auto who = [](int lane) {
      return lane == 0 ? "itself" : lane < 0 ? "the left neighbour" : "the right neighbour";
    };
    return std::string("in ") + stage + ", a lane takes the four columns on the left from " +
           who(left) + " and those on the right from " + who(right) +
           ": __shfl_up_sync returns the value of the lane on the left, with the lower number, and "
           "__shfl_down_sync that of the lane on the right";
  }

  // The picture that is blurred from other grey pixels: from(x, y, i, j) is the place of the one
  // that counts as i columns and j rows away from (x, y).
  template <class From>
  int sum_from(const From& from, std::int64_t x, std::int64_t y) const {
    int sum = 0;
    for (int j = -3; j <= 3; ++j) {
      for (int i = -3; i <= 3; ++i) {
        const auto [column, row] = from(x, y, i, j);
        sum += blur_rule::pyramid[j + 3] * blur_rule::pyramid[i + 3] * grey_.at(column, row);
      }
    }
    return sum >> 8;
  }
  template <class From>
  grey_picture blurred_from(const From& from) const {
    grey_picture p(width_, height_);
    p.fill([&](auto x, auto y) { return static_cast<byte>(sum_from(from, x, y)); });
    return p;
  }
  // True if this blur leaves the result. Most do not even leave the first wrong pixel.
  template <class From>
  bool blur_leaves(const From& from) const {
    return is_near_first([&](auto x, auto y) { return sum_from(from, x, y); }) &&
           is(edges_of(blurred_from(from)));
  }

  // Whether a blurred picture with these values leaves the first wrong pixel of the result.
  template <class Value>
  bool is_near_first(const Value& value) const {
    const std::int64_t x = first_ % width_, y = first_ / width_;
    grey_picture near(3, 3);
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t column = x + i - 1, row = y + j - 1;
        const bool inside = column >= 0 && row >= 0 && column < width_ && row < height_;
        near.data[j * 3 + i] = static_cast<byte>(inside ? value(column, row) : 0);
      }
    return edges_of(near).at(1, 1) == found_[first_];
  }

  // " begin at column x - 2 and row y - 3, not at x - 3 and y - 3: where does its tile begin?"
  static std::string begin_at(int columns_off, int rows_off, int reach) {
    return " begin at column " + relative("x", columns_off - reach) + " and row " +
           relative("y", rows_off - reach) + ", not at " + relative("x", -reach) + " and " +
           relative("y", -reach) + ": where does its tile begin?";
  }

  // Every block repeats the first block's pixels, or the first pixel of its rows or columns.
  std::string first_block_again() const {
    const auto leaves = [&](const auto& from) {
      grey_picture again(width_, height_);
      again.fill(from);
      return is(edges_of(again));
    };
    for (std::int64_t side = 128; side >= 2; side /= 2) {
      const std::string number = std::to_string(side);
      if (leaves([&](auto x, auto y) { return soft_.at(x / side * side, y); }))
        return "every " + number +
               " columns of the blurred picture repeat the first: is threadIdx.x in every index?";
      if (leaves([&](auto x, auto y) { return soft_.at(x, y / side * side); }))
        return "every " + number +
               " rows of the blurred picture repeat the first: is threadIdx.y in every index" +
               (side <= 8 ? ", and the number of the row if a thread computes several?" : "?");
      for (std::int64_t rows = 128; rows >= 1; rows /= 2) {
        if (side >= width_ && rows >= height_) continue;
        if (leaves([&](auto x, auto y) { return soft_.at(x % side, y % rows); }))
          return "every block of " + number + " x " + std::to_string(rows) +
                 " pixels is blurred as the first one: is blockIdx in the index of its tile?";
      }
    }
    return "";
  }

  // "x - 3"
  static std::string relative(const char* name, int offset) {
    if (offset == 0) return name;
    return name + std::string(offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
  }

  std::string mistake_in_edges() const {
    const auto leaves_this = [&](const auto& length) { return is(edges_of(soft_, length)); };
    const auto root = [](int gx, int gy) {
      return std::sqrt(static_cast<double>(gx * gx + gy * gy));
    };
    if (leaves_this([&](int gx, int gy) { return static_cast<int>(root(gx, gy)); }))
      return "the edge stage keeps the lowest 8 bits of a length above 255: limit it first";
    if (leaves_this(
            [&](int gx, int gy) { return std::min(255, static_cast<int>(root(gx, gy) + 0.5)); }))
      return "the edge stage rounds the root to the nearest integer, but the contract truncates";
    if (leaves_this([](int gx, int gy) { return std::min(255, std::abs(gx) + std::abs(gy)); }))
      return "the edge stage adds |gx| and |gy|, but the length is the root of gx * gx + gy * gy";
    if (leaves_this([](int gx, int) { return std::min(255, std::abs(gx)); }))
      return "the edge stage uses only gx: is gy computed, squared and added?";
    if (leaves_this([](int, int gy) { return std::min(255, std::abs(gy)); }))
      return "the edge stage uses only gy: is gx computed, squared and added?";
    if (leaves_this([](int gx, int) { return edge_length(gx, gx); }))
      return "the edge stage uses gx in place of gy, too: the length is the root of gx * gx + gy * "
             "gy";
    if (leaves_this([](int, int gy) { return edge_length(gy, gy); }))
      return "the edge stage uses gy in place of gx, too: the length is the root of gx * gx + gy * "
             "gy";
    if (leaves_this([](int gx, int gy) { return std::min(255, gx * gx + gy * gy); }))
      return "the edge stage does not take the root of gx * gx + gy * gy";
    for (const std::array<int, 3>& w :
         {std::array{1, 1, 1}, {0, 2, 0}, {0, 1, 0}, {0, 2, 1}, {1, 2, 0}, {1, 0, 1}, {1, 2, 2}}) {
      if (!is(edges_of(soft_, edge_length, w))) continue;
      return "the edge stage weights the pixels of a column or a row by " + std::to_string(w[0]) +
             " " + std::to_string(w[1]) + " " + std::to_string(w[2]) +
             ", but Sobel's weights are "
             "1 2 1";
    }
    if (leaves_this([](int gx, int gy) { return edge_length(byte(gx), byte(gy)); }))
      return "the edge stage keeps gx and gy in an unsigned char, but they go from -1020 to 1020: "
             "use int";
    if (leaves_this([](int gx, int gy) {
          return edge_length(static_cast<signed char>(gx), static_cast<signed char>(gy));
        }))
      return "the edge stage keeps gx and gy in a char, but they go from -1020 to 1020: use int";
    if (std::string text = edges_off(soft_); !text.empty()) return text;
    return other_gradient();
  }

  // The weights of the 3 x 3 pixels in a gradient, from (x - 1, y - 1) to (x + 1, y + 1).
  using gradient = std::array<int, 9>;
  static constexpr gradient sobel_x = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
  static constexpr gradient sobel_y = {-1, -2, -1, 0, 0, 0, 1, 2, 1};

  bool is_left_by(const gradient& x_weights, const gradient& y_weights) const {
    const auto value = [&](std::int64_t x, std::int64_t y) {
      int gx = 0, gy = 0;
      for (int k = 0; k < 9; ++k) {
        const int pixel = soft_.at(x + k % 3 - 1, y + k / 3 - 1);
        gx += x_weights[k] * pixel;
        gy += y_weights[k] * pixel;
      }
      return static_cast<byte>(edge_length(gx, gy));
    };
    for (std::int64_t i = first_; i < std::ssize(found_); ++i)
      if (value(i % width_, i / width_) != found_[i]) return false;
    return true;
  }

  // gx or gy has other weights, a wrong term, or a term with another term's pixel.
  std::string other_gradient() const {
    const auto pixel = [](int k) {
      return "(" + relative("x", k % 3 - 1) + ", " + relative("y", k / 3 - 1) + ")";
    };
    for (const bool is_x : {true, false}) {
      const gradient& right = is_x ? sobel_x : sobel_y;
      const auto fits = [&](const gradient& other) {
        return is_x ? is_left_by(other, sobel_y) : is_left_by(sobel_x, other);
      };
      const std::string name = is_x ? "the edge stage's gx " : "the edge stage's gy ";
      for (int code = 0; code < 27; ++code) {
        const int weights[] = {code / 9, code / 3 % 3, code % 3};
        gradient other = right;
        for (int k = 0; k < 9; ++k)
          other[k] = weights[is_x ? k / 3 : k % 3] * ((right[k] > 0) - (right[k] < 0));
        if (!fits(other)) continue;
        return name + "weights its three " + (is_x ? "rows" : "columns") + " by " +
               std::to_string(weights[0]) + " " + std::to_string(weights[1]) + " " +
               std::to_string(weights[2]) + ", but Sobel's weights are 1 2 1";
      }
      for (int k = 0; k < 9; ++k) {
        for (int weight = -2; weight <= 2; ++weight) {
          gradient other = right;
          other[k] = weight;
          if (weight != right[k] && fits(other))
            return name + "takes pixel " + pixel(k) + " times " + std::to_string(weight) +
                   ", not times " + std::to_string(right[k]);
        }
        for (int by = 0; by < 9 && right[k] != 0; ++by) {
          gradient other = right;
          other[by] += other[k];
          other[k] -= right[k];
          if (by != k && fits(other))
            return name + "takes pixel " + pixel(by) + " where pixel " + pixel(k) + " belongs";
        }
      }
    }
    return "";
  }

  // The edge stage begins at a wrong pixel of this blurred picture.
  std::string edges_off(const grey_picture& soft) const {
    for (const int columns : {0, -1, 1}) {
      for (const int rows : {0, -1, 1})
        if ((columns != 0 || rows != 0) && is(edges_of(soft, edge_length, {}, columns, rows)))
          return "the edge stage's 3 x 3 pixels" + begin_at(columns, rows, 1);
    }
    return "";
  }

  // The same bytes as a picture whose width and height are exchanged.
  static grey_picture turned(const grey_picture& p) {
    grey_picture other(p.height, p.width);
    other.data = p.data;
    return other;
  }

  // A kernel takes the height for the width, and the grid does not fit that shape. It still
  // computes at least the first height * height pixels of a wide picture.
  std::string sides_exchanged() const {
    const std::int64_t rows = height_ * height_ / width_ - 1;  // that need only these pixels
    if (width_ <= height_ || rows < 4) return "";
    const auto begins_with = [&](const grey_picture& p) {
      return std::equal(p.data.begin(), p.data.begin() + rows * width_, found_.begin());
    };
    const std::string passed =
        " width and height exchanged: in which order does its launch pass them?";
    const grey_picture other = turned(grey_), soft = blurred(other);
    grey_picture read(width_, height_);
    read.fill([&](auto x, auto y) { return other.at(x, y); });
    if (begins_with(edges_of(blurred(read))))
      return "the blur reads the grey picture with width and height exchanged: in which order are "
             "they passed?";
    if (begins_with(edges_of(turned(soft)))) return "the blur has" + passed;
    if (begins_with(turned(edges_of(turned(soft_))))) return "the edge stage has" + passed;
    return "";
  }

  std::string shifted() const {
    if (width_ <= 24 || height_ <= 24) return "";
    for (int dy = -3; dy <= 3; ++dy) {
      for (int dx = -3; dx <= 3; ++dx) {
        if (dx == 0 && dy == 0) continue;
        bool all = true;
        for (std::int64_t y = 8; y < height_ - 8 && all; ++y)
          for (std::int64_t x = 8; x < width_ - 8 && all; ++x)
            all = found_[y * width_ + x] == right_.at(x + dx, y + dy);
        if (all)
          return "the picture is shifted by " + std::to_string(-dx) + " columns and " +
                 std::to_string(-dy) + " rows: where does a stage read or store the wrong pixel?";
      }
    }
    return "";
  }

  // The part of a picture that no thread wrote.
  struct part {
    std::int64_t column = 0, row = 0;  // all columns and all rows from here on
    bool has(std::int64_t x, std::int64_t y) const { return x >= column || y >= row; }
  };
  enum class stage { grey, blurred, edges };

  // The edges if this part of a stage's picture held one value. `from` is a window of the
  // reference's picture of that stage, whose first pixel is at (left, top).
  static grey_picture edges_without(stage of, const part& missing, int value, grey_picture from,
                                    std::int64_t left = 0, std::int64_t top = 0) {
    for (std::int64_t y = 0; y < from.height; ++y)
      for (std::int64_t x = 0; x < from.width; ++x)
        if (missing.has(left + x, top + y))
          from.data[y * from.width + x] = static_cast<byte>(value);
    return edges_from(of, std::move(from));
  }
  // The edges that follow from this picture of a stage.
  static grey_picture edges_from(stage of, grey_picture p) {
    if (of == stage::grey) p = blurred(p);
    return of == stage::edges ? p : edges_of(p);
  }

  // The value of the missing part that gives exactly this result, or -1.
  int value_of(stage of, const part& missing) const {
    const grey_picture& whole = of == stage::grey ? grey_ : of == stage::blurred ? soft_ : right_;
    constexpr std::int64_t reach = 4;  // of a grey pixel
    const std::int64_t x = first_ % width_, y = first_ / width_;
    const std::int64_t left = std::max<std::int64_t>(0, x - reach);
    const std::int64_t top = std::max<std::int64_t>(0, y - reach);
    grey_picture window(std::min(width_, x + reach + 1) - left,
                        std::min(height_, y + reach + 1) - top);
    window.fill([&](std::int64_t i, std::int64_t j) { return whole.at(left + i, top + j); });
    for (int value = 0; value < 256; ++value) {
      if (edges_without(of, missing, value, window, left, top).at(x - left, y - top) ==
              found_[first_] &&
          is(edges_without(of, missing, value, whole)))
        return value;
    }
    return -1;
  }

  std::string part_missing() const {
    if (!can_try_mistakes()) return "";
    part wrong{width_, height_};  // missing columns show in the top rows, rows in the left columns
    each_wrong([&](std::int64_t x, std::int64_t y) {
      if (x < 8) wrong.row = std::min(wrong.row, y);
    });
    each_wrong([&](std::int64_t x, std::int64_t y) {
      if (y < std::min<std::int64_t>(8, wrong.row)) wrong.column = std::min(wrong.column, x);
    });
    const std::tuple<stage, int, const char*> stages[] = {
        {stage::edges, 0, "the result"},
        {stage::blurred, 1, "the blurred picture"},
        {stage::grey, 4, "the grey picture"}};
    for (const auto& [of, reach, name] : stages) {
      const part missing{wrong.column + reach, wrong.row + reach};
      const bool columns = missing.column < width_, rows = missing.row < height_;
      if (!columns && !rows) continue;
      const int value = value_of(of, missing);
      if (value < 0) continue;
      return of_all() + ": " + name + " holds " + std::to_string(value) + " in all " +
             (columns ? "columns from " + std::to_string(missing.column) + " on" : "") +
             (columns && rows ? " and all " : "") +
             (rows ? "rows from " + std::to_string(missing.row) + " on" : "") +
             ", as if no thread wrote them: " +
             (columns && missing.column == height_
                  ? std::to_string(height_) +
                        " is the height - is x compared with the width, and y with the height?"
              : rows && missing.row == width_
                  ? std::to_string(width_) +
                        " is the width - is x compared with the width, and y with the height?"
              : (columns && lacks_whole_blocks(missing.column, width_)) ||
                      (rows && lacks_whole_blocks(missing.row, height_))
                  ? "does the grid have a block for each part of the picture, and does x use only "
                    "blockIdx.x, and y blockIdx.y?"
                  : "does the grid round up, with the width in x and the height in y?");
    }
    return "";
  }

  // The distance from the border up to which there are edges.
  template <class Picture>
  std::int64_t edges_end(const Picture& p) const {
    std::int64_t end = 0;
    for (std::int64_t y = 0; y < height_; ++y)
      for (std::int64_t x = 0; x < width_; ++x)
        if (p[y * width_ + x] != 0)
          end = std::max(end, 1 + std::min({x, y, width_ - 1 - x, height_ - 1 - y}));
    return end;
  }

  std::string nothing_inside() const {
    const std::int64_t end = edges_end(found_);
    if (std::min(width_, height_) <= 16 || end > 4 || edges_end(right_.data) <= 4) return "";
    const std::string name = end > 1 ? "grey" : "blurred";
    return "only the border has edges, as if the " + name +
           " picture had the same value everywhere: is it written before the next stage reads it" +
           (end > 1 ? "?" : ", and is its sum divided by 256 before it is limited to 255?");
  }

  // Only pixels near the border are wrong, where a stage reads neighbours outside the picture.
  std::string at_the_border() const {
    bool right = true, lower = true, any = true;  // all wrong pixels are near it
    each_wrong([&](std::int64_t x, std::int64_t y) {
      const bool at_right = x >= width_ - 4, at_lower = y >= height_ - 4;
      right = right && at_right;
      lower = lower && at_lower;
      any = any && (at_right || at_lower || x < 4 || y < 4);
    });
    if (!any) return "";
    bool one_byte = found_[first_] != 0;
    each_wrong([&](auto x, auto y) { one_byte &= found_[y * width_ + x] == found_[first_]; });
    if (one_byte && wrong_ > 8)
      return of_all() + ", all within 4 of the picture's border, and hold " +
             std::to_string(found_[first_]) +
             ", as if no thread wrote them: the contract has edges there, too";
    const std::string outside =
        "do pixels outside count as 0, in the grey picture and in the blurred one?";
    if (right == lower || width_ < 16 || height_ < 16)
      return of_all() + ", all within 4 of the picture's border: " + outside;
    return of_all() + ", all at the " + (right ? "right" : "lower") +
           " border: does every thread there do its part for the block before it returns, and " +
           outside;
  }

  // If all values of the blurred picture are right or off by one in the same direction, gx and gy
  // are off by at most 4 each, and the length by at most 5.7.
  std::string off_by_little() const {
    constexpr int most = 6;
    if (largest_ > most) return "";
    return of_all() + ", by at most " + std::to_string(largest_) + ", " + no_known_pattern +
           ": does a stage round differently from the contract, or compute with another type?";
  }

  // All wrong pixels are near block borders. In smaller blocks, every pixel is near one.
  std::string between_blocks() const {
    if (wrong_ < 8) return "";
    for (const std::int64_t side : {128, 64, 32, 16}) {
      bool columns = width_ > side, rows = height_ > side;
      each_wrong([&](std::int64_t x, std::int64_t y) {
        const auto is_near = [&](std::int64_t at) { return (at + 4) % side < 8; };
        columns = columns && is_near(x);
        rows = rows && is_near(y);
      });
      if (!columns && !rows) continue;
      return of_all() + ", all within 4 " + (columns ? "columns" : "rows") + " of a multiple of " +
             std::to_string(side) + ": do blocks meet there, and does each load its whole halo?";
    }
    return "";
  }

  std::span<const std::byte> rgba_;
  const grey_picture& grey_;
  const grey_picture& soft_;
  const grey_picture& right_;
  std::span<const byte> found_;
  std::int64_t width_ = 0, height_ = 0;
  std::size_t wrong_ = 0;
  std::int64_t first_ = 0, last_ = 0;
  int largest_ = 0;  // the largest difference
};

}  // namespace stepwise::blur_lab
