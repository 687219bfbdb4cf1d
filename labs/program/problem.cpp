// The frames, reference and comparison of the lab `program`.
//
// idea    A frame is a ramp, squares and noise, which differ from frame to frame. No two frames
//         have the same result, so a frame that was lost, repeated or mixed with another one is
//         recognised.
// memory  A call is a whole program: the input is its file FRAMES, the output its file RESULTS.
// tested  labs/program/tests/problem_test.cpp; the mutants of tests/mutants.txt
#include "common/lab/problem.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "common/lab/random.hpp"

namespace stepwise {
namespace {

using byte = unsigned char;

constexpr std::size_t header_bytes = 3 * sizeof(std::int32_t);
constexpr std::size_t sum_bytes = sizeof(std::uint32_t);

struct shape {
  std::int64_t frames, width, height;

  std::int64_t pixels() const { return width * height; }
  std::size_t result_bytes() const { return sum_bytes + static_cast<std::size_t>(pixels()); }
};

shape checked(const problem::size& n) {
  constexpr std::int64_t longest = 65535, most_pixels = std::int64_t{1} << 24;
  constexpr std::int64_t most_bytes = std::int64_t{1} << 32;
  if (n.size() != 3 || n[0] < 1 || n[1] < 1 || n[2] < 1 || n[1] > longest || n[2] > longest ||
      n[1] * n[2] > most_pixels || n[0] > most_bytes / (n[1] * n[2]))
    throw std::invalid_argument(
        "program: a size is frames x width x height: width and height from 1 to 65535, width * "
        "height at most 2^24, and at most 2^32 pixels in all frames");
  return {n[0], n[1], n[2]};
}

shape shape_of(const problem_call& call) {
  std::int32_t size[3];
  std::memcpy(size, call.buffers.at(0).data.data(), sizeof size);
  return {size[0], size[1], size[2]};
}

const byte* frame_of(const problem_call& call, const shape& s, std::int64_t frame) {
  return reinterpret_cast<const byte*>(call.buffers.at(0).data.data()) + header_bytes +
         frame * s.pixels();
}

void paint(byte* pixels, const shape& s, std::int64_t frame, random_stream noise) {
  for (std::int64_t y = 0; y < s.height; ++y) {
    for (std::int64_t x = 0; x < s.width; ++x) {
      const bool square = ((x + 5 * frame) / 9 * 7 + y / 11 * 5) % 13 < 2;
      const std::int64_t ramp = square ? 190 : (2 * x + 3 * y + 11 * frame) / 4 % 170;
      pixels[y * s.width + x] = static_cast<byte>(1 + ramp + std::int64_t(noise.next() >> 58));
    }
  }
}

// The mean of the 3 x 3 pixels around a pixel.
byte smoothed(const byte* frame, const shape& s, std::int64_t x, std::int64_t y) {
  int sum = 4;
  for (std::int64_t dy = -1; dy <= 1; ++dy)
    for (std::int64_t dx = -1; dx <= 1; ++dx)
      sum += frame[std::clamp(y + dy, std::int64_t{0}, s.height - 1) * s.width +
                   std::clamp(x + dx, std::int64_t{0}, s.width - 1)];
  return static_cast<byte>(sum / 9);
}

struct frame_result {
  std::uint32_t sum = 0;
  std::vector<byte> pixels;

  friend bool operator==(const frame_result&, const frame_result&) = default;
};

frame_result expected_of(const problem_call& call, const shape& s, std::int64_t frame) {
  const byte* const in = frame_of(call, s, frame);
  frame_result r{0, std::vector<byte>(static_cast<std::size_t>(s.pixels()))};
  for (std::int64_t i = 0; i < s.pixels(); ++i) {
    r.pixels[i] = smoothed(in, s, i % s.width, i / s.width);
    r.sum += r.pixels[i];
  }
  return r;
}

frame_result found_in(std::span<const std::byte> results, const shape& s, std::int64_t frame) {
  const auto at = results.subspan(static_cast<std::size_t>(frame) * s.result_bytes());
  frame_result r{0, std::vector<byte>(static_cast<std::size_t>(s.pixels()))};
  std::memcpy(&r.sum, at.data(), sum_bytes);
  std::memcpy(r.pixels.data(), at.data() + sum_bytes, r.pixels.size());
  return r;
}

// A wrong result of one frame, and the likely cause.
class wrong_frame {
 public:
  wrong_frame(const problem_call& call, std::span<const std::byte> results, std::int64_t frame)
      : call_(call),
        s_(shape_of(call)),
        frame_(frame),
        found_(found_in(results, s_, frame)),
        expected_(expected_of(call, s_, frame)) {}

  std::string first() const {
    const std::string of = "frame " + std::to_string(frame_);
    for (std::size_t i = 0; i < found_.pixels.size(); ++i) {
      if (found_.pixels[i] == expected_.pixels[i]) continue;
      const auto at = static_cast<std::int64_t>(i);
      return of + ": pixel (x = " + std::to_string(at % s_.width) +
             ", y = " + std::to_string(at / s_.width) + ") = " + std::to_string(found_.pixels[i]) +
             ", expected " + std::to_string(expected_.pixels[i]);
    }
    return of + ": the pixels are right, but the sum = " + std::to_string(found_.sum) +
           ", expected " + std::to_string(expected_.sum);
  }

  std::string looks_like() const {
    if (found_.pixels == expected_.pixels) return cause_of_sum();
    if (std::ranges::all_of(found_.pixels, [](byte p) { return p == 0; }))
      return "all pixels are 0: was the result written to the file before it was copied to the "
             "host?";
    for (std::int64_t other = 0; other < std::min(s_.frames, most_compared); ++other)
      if (other != frame_ && found_.pixels == expected_of(call_, s_, other).pixels)
        return "this is the result of frame " + std::to_string(other) +
               ": was a buffer used again before its work had ended, or written too early?";
    if (std::equal(found_.pixels.begin(), found_.pixels.end(), frame_of(call_, s_, frame_)))
      return "this is the frame itself: it was not smoothed";
    if (is_right_inside()) return "only pixels at the edges are wrong";
    if (is_mixed())
      return "every pixel belongs to this frame or to another one: was a buffer used again before "
             "its work had ended?";
    return no_known_pattern;
  }

 private:
  static constexpr std::int64_t most_compared = 64;  // frames

  std::string cause_of_sum() const {
    std::uint32_t all = 0;
    for (std::int64_t f = 0; f <= frame_; ++f) all += expected_of(call_, s_, f).sum;
    if (frame_ > 0 && found_.sum == all)
      return "this is the sum of frames 0 to " + std::to_string(frame_) +
             ": is the sum set to 0 for each frame?";
    if (found_.sum == 0) return "was the sum copied before the kernel had ended?";
    if (found_.sum == sum_of_frame()) return "these are the pixels before smoothing, added up";
    return no_known_pattern;
  }

  std::uint32_t sum_of_frame() const {
    std::uint32_t sum = 0;
    const byte* const in = frame_of(call_, s_, frame_);
    for (std::int64_t i = 0; i < s_.pixels(); ++i) sum += in[i];
    return sum;
  }

  bool is_right_inside() const {
    if (s_.width < 3 || s_.height < 3) return false;
    for (std::int64_t y = 1; y + 1 < s_.height; ++y)
      for (std::int64_t x = 1; x + 1 < s_.width; ++x)
        if (found_.pixels[y * s_.width + x] != expected_.pixels[y * s_.width + x]) return false;
    return true;
  }

  bool is_mixed() const {
    std::vector<bool> known(found_.pixels.size());
    for (std::int64_t f = 0; f < std::min(s_.frames, most_compared); ++f) {
      const frame_result one = expected_of(call_, s_, f);
      for (std::size_t i = 0; i < known.size(); ++i)
        if (one.pixels[i] == found_.pixels[i]) known[i] = true;
    }
    return s_.frames > 1 && std::ranges::find(known, false) == known.end();
  }

  const problem_call& call_;
  shape s_;
  std::int64_t frame_;
  frame_result found_, expected_;
};

class program_problem : public problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    const shape s = checked(n);
    problem_call call;
    call.label = "frames = " + std::to_string(s.frames) + ", width = " + std::to_string(s.width) +
                 ", height = " + std::to_string(s.height) + ", seed " + std::to_string(seed);
    call.memory = runner::memory_kind::files;
    call.add_input("FRAMES", header_bytes + static_cast<std::uint64_t>(s.frames * s.pixels()));
    call.add_output("RESULTS", static_cast<std::uint64_t>(s.frames) * s.result_bytes());
    for (auto& buffer : call.buffers) buffer.element_bytes = 1;
    auto& data = call.buffers[0].data;
    const std::int32_t header[3] = {static_cast<std::int32_t>(s.frames),
                                    static_cast<std::int32_t>(s.width),
                                    static_cast<std::int32_t>(s.height)};
    std::memcpy(data.data(), header, sizeof header);
    auto* const pixels = reinterpret_cast<byte*>(data.data()) + header_bytes;
    const random_stream random = stream_for(seed, 0);
    for (std::int64_t f = 0; f < s.frames; ++f)
      paint(pixels + f * s.pixels(), s, f, random.part(static_cast<std::uint64_t>(f)));
    return call;
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    const shape s = shape_of(call);
    const std::size_t bytes = static_cast<std::size_t>(s.frames) * s.result_bytes();
    if (outputs.size() != 1 || outputs[0].size() != bytes)
      return "program: expected one output of " + std::to_string(bytes) + " bytes";
    for (std::int64_t f = 0; f < s.frames; ++f) {
      if (found_in(outputs[0], s, f) == expected_of(call, s, f)) continue;
      const wrong_frame wrong(call, outputs[0], f);
      return "program: " + wrong.first() + " (" + call.label + "); " + wrong.looks_like();
    }
    return std::nullopt;
  }

  // Each pixel is read once and written once. Nine pixels are added for each smoothed pixel, and
  // one more for the sum.
  problem_work work(const size& n) const override {
    const shape s = checked(n);
    const auto all = static_cast<double>(s.frames * s.pixels());
    return {2 * all, 10 * all, "additions"};
  }
};

}  // namespace

STEPWISE_PROBLEM(program_problem)
}  // namespace stepwise
