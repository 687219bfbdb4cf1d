// The blur lab's pictures, reference and comparison.
//
// idea    Ramps of different slopes along x and y, scattered bright squares, and noise. No two
//         places look alike, so shifting, mirroring or omitting anything changes the edges. Every
//         stage is defined to the bit, so pictures are compared with ==.
// tested  labs/blur/tests/problem_test.cpp; the mutants in tests/mutants
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "common/lab/in_bands.hpp"
#include "common/lab/picture_problem.hpp"
#include "common/lab/random.hpp"
#include "labs/blur/blur.hpp"

namespace stepwise {
namespace {

using byte = unsigned char;

// A single-colour picture that is black outside its bounds.
struct grey_picture {
  std::int64_t width = 0, height = 0;
  std::vector<byte> data;

  grey_picture(std::int64_t w, std::int64_t h) : width(w), height(h), data(w * h) {}
  int at(std::int64_t x, std::int64_t y) const {
    return x < 0 || y < 0 || x >= width || y >= height ? 0 : data[y * width + x];
  }
  // Sets every pixel to value(x, y), on all cores.
  template <class Value>
  void fill(const Value& value) {
    in_bands(height, 64 * width, [&](std::int64_t begin, std::int64_t end) {  // 64: the work
      for (std::int64_t y = begin; y < end; ++y)
        for (std::int64_t x = 0; x < width; ++x) data[y * width + x] = value(x, y);
    });
  }
};

grey_picture grey_of(std::span<const std::byte> rgba, std::int64_t width, std::int64_t height) {
  grey_picture grey(width, height);
  grey.fill([&](std::int64_t x, std::int64_t y) {
    const auto* p = reinterpret_cast<const byte*>(rgba.data()) + 4 * (y * width + x);
    return static_cast<byte>(
        std::fmaf(p[2], 0.114350f, std::fmaf(p[0], 0.298839f, p[1] * 0.586811f)));
  });
  return grey;
}

// Adds along the rows first, then along the columns. Integers make the order irrelevant.
grey_picture blurred(const grey_picture& in) {
  constexpr std::array<int, 7> weight = {1, 2, 3, 4, 3, 2, 1};
  grey_picture out(in.width, in.height);
  in_bands(in.height, 64 * in.width, [&](std::int64_t begin, std::int64_t end) {
    std::vector<int> rows((end - begin + 6) * in.width);  // starts at row begin - 3
    for (std::int64_t y = std::max<std::int64_t>(0, begin - 3); y < std::min(in.height, end + 3);
         ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        int sum = 0;
        for (int i = 0; i < 7; ++i) sum += weight[i] * in.at(x + i - 3, y);
        rows[(y - begin + 3) * in.width + x] = sum;
      }
    }
    for (std::int64_t y = begin; y < end; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) {
        int sum = 0;
        for (int j = 0; j < 7; ++j) sum += weight[j] * rows[(y - begin + j) * in.width + x];
        out.data[y * in.width + x] = static_cast<byte>(sum >> 8);
      }
    }
  });
  return out;
}

grey_picture edges_of(const grey_picture& in) {
  grey_picture out(in.width, in.height);
  out.fill([&](std::int64_t x, std::int64_t y) {
    const auto at = [&](int dx, int dy) { return in.at(x + dx, y + dy); };
    const int gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
    const int gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
    const int square = gx * gx + gy * gy;
    auto root = static_cast<int>(std::sqrt(static_cast<double>(square)));
    while (root * root > square) --root;
    return static_cast<byte>(std::min(root, 255));
  });
  return out;
}

// Paints three such pictures with different slopes, one per colour. The fourth byte is noise.
void paint(std::span<std::byte> rgba, std::int64_t width, std::int64_t height,
           const random_stream& random) {
  random_stream slopes = random;
  std::array<std::uint64_t, 6> slope{};
  for (auto& s : slope) s = 1 + slopes.next() % 5;
  in_bands(height, 4 * width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t y = begin; y < end; ++y) {
      random_stream noise = random.after(8 + y * width);
      for (std::int64_t x = 0; x < width; ++x) {
        const std::uint64_t bits = noise.next();
        const bool square = ((x / 9 + 1) * 7 + (y / 11 + 1) * 5) % 13 < 2;
        for (int c = 0; c < 3; ++c) {
          const std::uint64_t ramp = slope[2 * c] * x + slope[2 * c + 1] * y;
          const std::uint64_t value = (square ? 200 : ramp / 4 % 180) + (bits >> (8 * c) & 31);
          rgba[4 * (y * width + x) + c] =
              static_cast<std::byte>(std::min<std::uint64_t>(value, 255));
        }
        rgba[4 * (y * width + x) + 3] = static_cast<std::byte>(bits >> 24);
      }
    }
  });
}

// Recognises common mistakes in a wrong picture by trying them one by one.
class wrong_picture {
 public:
  wrong_picture(const grey_picture& grey, const grey_picture& right, std::span<const byte> found)
      : grey_(grey), right_(right), found_(found) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] == right.data[i]) continue;
      if (wrong_++ == 0) first_ = static_cast<std::int64_t>(i);
      last_ = static_cast<std::int64_t>(i);
    }
  }

  std::string first() const {
    return "out[" + std::to_string(first_ / right_.width) + "][" +
           std::to_string(first_ % right_.width) + "] = " + std::to_string(found_[first_]) +
           ", expected " + std::to_string(right_.data[first_]);
  }

  std::string looks_like() const {
    const bool one_byte =
        std::all_of(found_.begin(), found_.end(), [&](byte b) { return b == found_[0]; });
    if (one_byte && found_.size() > 1) return "all of out is one byte: was anything written to it?";
    if (is(grey_)) return "this is the grey picture: two stages are missing";
    if (is(blurred(grey_))) return "this is the blurred picture: where are its edges?";
    if (is(edges_of(grey_))) return "these are the edges of the grey picture, which is not blurred";
    if (std::string text = shifted(); !text.empty()) return text;
    if (std::string text = rows_missing(); !text.empty()) return text;
    if (std::string text = at_the_border(); !text.empty()) return text;
    return of_all() + " are wrong, in rows " + std::to_string(first_ / right_.width) + " to " +
           std::to_string(last_ / right_.width);
  }

 private:
  bool is(const grey_picture& p) const {
    return std::equal(found_.begin(), found_.end(), p.data.begin());
  }

  std::string of_all() const {
    return std::to_string(wrong_) + " of " + std::to_string(found_.size()) + " pixels";
  }

  std::string shifted() const {
    if (right_.width < 16 || right_.height < 16) return "";
    for (int dy = -3; dy <= 3; ++dy) {
      for (int dx = -3; dx <= 3; ++dx) {
        if (dx == 0 && dy == 0) continue;
        bool all = true;
        for (std::int64_t y = 8; y < right_.height - 8 && all; ++y)
          for (std::int64_t x = 8; x < right_.width - 8 && all; ++x)
            all = found_[y * right_.width + x] == right_.at(x + dx, y + dy);
        if (all && right_.width > 24 && right_.height > 24)
          return "the picture is shifted by " + std::to_string(-dx) + " columns and " +
                 std::to_string(-dy) + " rows";
      }
    }
    return "";
  }

  // Only pixels near the border are wrong, where a stage's neighbours lie outside the picture.
  std::string at_the_border() const {
    for (std::int64_t y = 4; y < right_.height - 4; ++y)
      for (std::int64_t x = 4; x < right_.width - 4; ++x)
        if (found_[y * right_.width + x] != right_.at(x, y)) return "";
    return of_all() +
           " are wrong, all within 4 of the picture's border - do pixels outside count as 0, in the"
           " grey picture and in the blurred one?";
  }

  // All rows from some row on hold the same byte.
  std::string rows_missing() const {
    const std::int64_t row = first_ / right_.width;
    const byte left = found_.back();
    const bool same = std::all_of(found_.begin() + row * right_.width, found_.end(),
                                  [&](byte b) { return b == left; });
    if (row == 0 || right_.width < 8 || !same) return "";
    return of_all() + " are wrong, and all rows from " + std::to_string(row) +
           " on are one byte - does the grid cover the rows beyond the last whole block?";
  }

  const grey_picture& grey_;
  const grey_picture& right_;
  std::span<const byte> found_;
  std::size_t wrong_ = 0;
  std::int64_t first_ = 0, last_ = 0;
};

class blur_problem : public picture_problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    const auto [width, height] = checked(n);
    problem_call call =
        call_of(width, height,
                "width = " + std::to_string(width) + ", height = " + std::to_string(height) +
                    ", seed " + std::to_string(seed));
    call.buffers[0].data.resize(call.buffers[0].bytes);
    paint(call.buffers[0].data, width, height, stream_for(seed, width * 65536 + height));
    return call;
  }

  problem_call call_with(picture rgba, const std::string& label) const override {
    const auto [width, height] = checked({rgba.width, rgba.height});
    problem_call call = call_of(width, height, label);
    call.buffers[0].data = std::move(rgba.pixels);
    return call;
  }

  std::vector<picture_stage> stages(const problem_call& call) const override {
    const grey_picture grey =
        grey_of(call.buffers.at(0).data, call.scalars.at(0), call.scalars.at(1));
    const grey_picture soft = blurred(grey);
    return {{"grey", shown(grey)}, {"blurred", shown(soft)}, {"edges", shown(edges_of(soft))}};
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    const std::int64_t width = call.scalars.at(0), height = call.scalars.at(1);
    const auto count = static_cast<std::size_t>(width * height);
    if (outputs.size() != 1 || outputs[0].size() != count) {
      return "edges: expected one output of " + std::to_string(count) + " bytes";
    }
    const std::span<const byte> found(reinterpret_cast<const byte*>(outputs[0].data()), count);
    const grey_picture grey = grey_of(call.buffers.at(0).data, width, height);
    const grey_picture right = edges_of(blurred(grey));
    if (std::equal(found.begin(), found.end(), right.data.begin())) return std::nullopt;
    const wrong_picture wrong(grey, right, found);
    return "edges: " + wrong.first() + " (" + call.label + "); " + wrong.looks_like();
  }

  // Each pixel's four bytes are read, and one byte is written. The stages take 5 operations for
  // grey, 49 multiply-adds for the blur, and 16 operations for the edges.
  problem_work work(const size& n) const override {
    const auto [width, height] = checked(n);
    const auto pixels = static_cast<double>(width * height);
    return {5 * pixels, (5 + 98 + 16) * pixels, "operations"};
  }

 private:
  // The call without its input's content.
  static problem_call call_of(std::int64_t width, std::int64_t height, const std::string& label) {
    const std::uint64_t count = width * height;
    return {label,
            {{"rgba", runner::buffer_role::input, {}, 4 * count},
             {"out", runner::buffer_role::output, {}, count},
             {"scratch",
              runner::buffer_role::scratch,
              {},
              scratch_bytes(static_cast<int>(width), static_cast<int>(height))}},
            {width, height}};
  }

  static picture shown(const grey_picture& grey) {
    const auto* const begin = reinterpret_cast<const std::byte*>(grey.data.data());
    return {grey.width, grey.height, 1, {begin, begin + grey.data.size()}};
  }

  struct shape {
    std::int64_t width, height;
  };

  static shape checked(const size& n) {
    constexpr std::int64_t longest = 65535, most = std::int64_t{1} << 30;
    if (n.size() != 2 || n[0] < 1 || n[1] < 1 || n[0] > longest || n[1] > longest ||
        n[0] * n[1] >= most) {
      throw std::invalid_argument(
          "blur: a size is width x height, each from 1 to 65535, their product below 2^30");
    }
    return {n[0], n[1]};
  }
};

}  // namespace

STEPWISE_PROBLEM(blur_problem)
}  // namespace stepwise
