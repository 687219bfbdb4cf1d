// The blur lab's pictures, reference and comparison.
//
// idea    Ramps of different slopes along x and y, scattered bright squares, and noise. No two
//         places look alike, so shifting, mirroring or omitting anything changes the edges. Some
//         squares have a colour whose grey value depends on how it is rounded; only 170 of 2^24
//         colours do. Every stage is defined to the bit, so pictures are compared with ==.
// tested  labs/blur/tests/problem_test.cpp; the mutants of tests/mutants.txt
#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "common/lab/in_bands.hpp"
#include "common/lab/picture_problem.hpp"
#include "common/lab/random.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/further_pictures.hpp"
#include "labs/blur/reference.hpp"
#include "labs/blur/wrong_edges.hpp"
#include "labs/blur/wrong_lines.hpp"

namespace stepwise {
namespace {

using blur_lab::byte;
using blur_lab::grey_picture;

// Colours whose grey value changes by one if it is summed in another order, without fmaf or as
// doubles. The second colour's grey value changes in all these cases; the others tell them apart.
constexpr std::array<std::array<byte, 3>, 6> telling_colours = {{{9, 172, 117},
                                                                 {155, 155, 155},
                                                                 {29, 192, 137},
                                                                 {11, 174, 119},
                                                                 {246, 122, 139},
                                                                 {32, 195, 140}}};

// Paints such a picture in each of the three colours, with other slopes. Alpha is noise.
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
        const std::int64_t column = x / 9, row = y / 11;  // of squares
        const std::int64_t kind = ((column + 1) * 7 + (row + 1) * 5) % 13;
        const bool is_bright = kind < 2, is_telling = kind == 6 || kind == 9;
        // The 97 x 60 pixels that are checked first have a square of each colour.
        const auto& colour = telling_colours[(column + row) % telling_colours.size()];
        for (int c = 0; c < 3; ++c) {
          const std::uint64_t ramp = slope[2 * c] * x + slope[2 * c + 1] * y;
          const std::uint64_t value =
              is_telling ? colour[c] : (is_bright ? 200 : ramp / 4 % 180) + (bits >> (8 * c) & 31);
          rgba[4 * (y * width + x) + c] =
              static_cast<std::byte>(std::min<std::uint64_t>(value, 255));
        }
        rgba[4 * (y * width + x) + 3] = static_cast<std::byte>(bits >> 24);
      }
    }
  });
}

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
    const std::span<const std::byte> rgba = call.buffers.at(0).data;
    const grey_picture grey = blur_lab::grey_of(rgba, call.scalars.at(0), call.scalars.at(1));
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
    const std::span<const std::byte> rgba = call.buffers.at(0).data;
    const grey_picture grey = blur_lab::grey_of(rgba, width, height), soft = blurred(grey);
    const grey_picture right = edges_of(soft);
    if (std::equal(found.begin(), found.end(), right.data.begin())) return std::nullopt;
    const blur_lab::wrong_edges wrong(rgba, grey, soft, right, found);
    return "edges: " + wrong.first() + " (" + call.label + "); " + wrong.looks_like();
  }

  std::string explain(const problem_call& call, const results& outputs,
                      const further_call& again) const override {
    const grey_picture grey =
        blur_lab::grey_of(call.buffers.at(0).data, call.scalars.at(0), call.scalars.at(1));
    return blur_lab::further_pictures(call, again).text(grey, outputs.at(0));
  }

  // Each pixel's four bytes are read, and one byte is written. A pixel takes 5 operations for
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
