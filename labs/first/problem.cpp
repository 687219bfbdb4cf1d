// The first lab's pictures, reference and comparison.
//
// idea    Ramps, squares and noise. No two places look alike, so shifting, rotating or omitting
//         anything changes the picture. All pixels are even and not 0, and the byte that fills
//         `out` before a call is odd, so a pixel that was never written cannot be right by chance.
// memory  The arrays lie in host memory: a call is a whole program, with its copies.
// tested  labs/first/tests/problem_test.cpp; the mutants of tests/mutants.txt
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "common/lab/in_bands.hpp"
#include "common/lab/picture_problem.hpp"
#include "common/lab/random.hpp"
#include "common/lab/whole_blocks.hpp"
#include "labs/first/first.hpp"

namespace stepwise {
namespace {

using byte = unsigned char;

struct grey_picture {
  std::int64_t width = 0, height = 0;
  std::span<const byte> pixels;

  byte at(std::int64_t x, std::int64_t y) const { return pixels[y * width + x]; }
  // The value at index i of the mirrored picture.
  byte mirrored(std::int64_t i) const { return at(width - 1 - i % width, i / width); }
};

grey_picture input_of(const problem_call& call) {
  const auto& data = call.buffers.at(0).data;
  return {call.scalars.at(0),
          call.scalars.at(1),
          {reinterpret_cast<const byte*>(data.data()), data.size()}};
}

std::vector<std::byte> mirrored(const grey_picture& in) {
  std::vector<std::byte> out(in.pixels.size());
  in_bands(in.height, in.width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t y = begin; y < end; ++y)
      for (std::int64_t x = 0; x < in.width; ++x)
        out[y * in.width + x] = static_cast<std::byte>(in.at(in.width - 1 - x, y));
  });
  return out;
}

void paint(std::span<std::byte> pixels, std::int64_t width, std::int64_t height,
           const random_stream& random) {
  in_bands(height, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t y = begin; y < end; ++y) {
      random_stream noise = random.after(y * width);
      for (std::int64_t x = 0; x < width; ++x) {
        const bool square = ((x / 9 + 1) * 7 + (y / 11 + 1) * 5) % 13 < 2;
        const std::uint64_t ramp = square ? 200 : (2 * x + 3 * y) / 4 % 180;
        const std::uint64_t value = (ramp + (noise.next() >> 58)) & 0xfe;
        pixels[y * width + x] = static_cast<std::byte>(value == 0 ? 2 : value);
      }
    }
  });
}

std::string plural(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Recognises common mistakes in a wrong picture by trying them one by one.
class wrong_picture {
 public:
  wrong_picture(const grey_picture& in, std::span<const byte> found) : in_(in), found_(found) {
    for (std::int64_t i = 0; i < std::ssize(found); ++i) {
      if (found[i] == in.mirrored(i)) continue;
      if (wrong_++ == 0) first_ = i;
      last_ = i;
      is_one_byte_ = is_one_byte_ && found[i] == found[first_];
    }
    // The byte that fills out before a call is odd. A user's own picture may hold any byte.
    is_untouched_ = is_one_byte_ && found[first_] % 2 != 0;
  }

  std::string first() const {
    return "out[" + std::to_string(first_) + "] = " + std::to_string(found_[first_]) +
           ", expected " + std::to_string(in_.mirrored(first_)) + ": column " +
           std::to_string(first_ % in_.width) + " of row " + std::to_string(first_ / in_.width);
  }

  std::string looks_like() const {
    const std::int64_t w = in_.width, h = in_.height, all = std::ssize(found_);
    // Unwritten device memory may be 0. No pixel of our pictures is 0.
    if (is_untouched_ || (is_one_byte_ && (wrong_ > 1 || found_[first_] == 0))) return unwritten();
    if (all == 1) return "";
    if (is([&](std::int64_t i) { return in_.pixels[i]; }))
      return "this is the picture itself: left and right are not swapped, or the kernel's result "
             "is not "
             "what is copied to the host";
    if (is([&](std::int64_t i) { return in_.at(i % w, h - 1 - i / w); }))
      return "the picture is upside down: top and bottom are swapped, not left and right";
    if (is([&](std::int64_t i) { return in_.pixels[all - 1 - i]; }))
      return "the picture is rotated by 180 degrees: swap left and right, and leave the rows "
             "where they are";
    if (all > 2 && is_but_for_one([&](std::int64_t i) {
          const std::int64_t from = i / w * w + w - i % w;
          return from < all ? in_.pixels[from] : found_[i];
        }))
      return "every pixel comes from one place too far to the right: column x belongs in column "
             "width - 1 - x";
    if (w != h &&
        is_where_written([&](std::int64_t i) { return in_.pixels[i / h * h + h - 1 - i % h]; }))
      return "the rows of this picture have " + std::to_string(h) +
             " pixels: are width and height exchanged, in the launch or in an index?";
    if (h < w && is([&](std::int64_t i) { return in_.at(w - 1 - i % h, i / w); }))
      return "the column of out[i] is taken to be i % " + std::to_string(h) +
             ": does an index use the height instead of the width?";
    if (is_written_by_height())
      return "row y of the result begins at out[" + std::to_string(h) +
             " * y]: is y multiplied by the height instead of the width?";
    if (h < w && is([&](std::int64_t i) { return in_.pixels[i / w * h + w - 1 - i % w]; }))
      return "row y is read from in[" + std::to_string(h) +
             " * y] on: is y multiplied by the height instead of the width?";
    if (wrong_ > 3 && is_where_wrong([&](std::int64_t i) { return in_.pixels[i]; }))
      return plural(wrong_, "pixel") + " of " + std::to_string(all) +
             " are as in the picture, not mirrored: is one array both read and written, so that "
             "some "
             "pixels are mirrored twice?";
    if (const std::string text = changed_values(); !text.empty()) return text;
    if (wrong_ == 1) return "1 pixel of " + std::to_string(all) + " is wrong, " + no_known_pattern;
    return plural(wrong_, "pixel") + " of " + std::to_string(all) + " are wrong, from out[" +
           std::to_string(first_) + "] to out[" + std::to_string(last_) + "], " + no_known_pattern;
  }

 private:
  bool is(const std::function<byte(std::int64_t)>& rule) const {
    for (std::int64_t i = 0; i < std::ssize(found_); ++i)
      if (found_[i] != rule(i)) return false;
    return true;
  }
  // Bytes that fill out before a call are odd. The bytes of the picture are even and not 0.
  bool is_where_written(const std::function<byte(std::int64_t)>& rule) const {
    std::int64_t written = 0;
    for (std::int64_t i = 0; i < std::ssize(found_); ++i) {
      if (found_[i] % 2 != 0 || found_[i] == 0) continue;
      if (found_[i] != rule(i)) return false;
      ++written;
    }
    return 4 * written > std::ssize(found_);
  }
  bool is_where_wrong(const std::function<byte(std::int64_t)>& rule) const {
    for (std::int64_t i = first_; i <= last_; ++i)
      if (found_[i] != in_.mirrored(i) && found_[i] != rule(i)) return false;
    return true;
  }
  bool is_but_for_one(const std::function<byte(std::int64_t)>& rule) const {
    std::int64_t differ = 0;
    for (std::int64_t i = 0; i < std::ssize(found_) && differ < 2; ++i)
      differ += found_[i] != rule(i);
    return differ < 2;
  }

  // Every pixel is in its place, and its value depends only on the value that it should have.
  std::string changed_values() const {
    constexpr int values = 256;
    std::array<int, values> becomes;
    becomes.fill(-1);
    std::int64_t repeated = 0;  // wrong pixels that an earlier pixel confirms
    for (std::int64_t i = 0; i < std::ssize(found_); ++i) {
      int& value = becomes[in_.mirrored(i)];
      if (value >= 0 && value != found_[i]) return "";
      repeated += value >= 0 && in_.mirrored(i) != found_[i];
      value = found_[i];
    }
    if (repeated < 2) return "";
    const int right = in_.mirrored(first_), found = found_[first_];
    return "every pixel is in its place, but values are changed, for example from " +
           std::to_string(right) + " to " + std::to_string(found) +
           (found + right == values - 1 ? " (255 - value)" : "") +
           ": the result should hold the values of in";
  }

  // Every pixel that out[y * height + x] reaches has the value of one of the threads that write it.
  bool is_written_by_height() const {
    const std::int64_t w = in_.width, h = in_.height;
    if (w <= h || h == 1) return false;  // a taller picture's rows would leave the array
    for (std::int64_t i = 0; i < std::ssize(found_); ++i) {
      bool is_reached = false, is_right = false;
      for (std::int64_t y = std::min(i / h, h - 1); y >= 0 && i - y * h < w; --y) {
        is_reached = true;
        is_right = is_right || found_[i] == in_.at(w - 1 - (i - y * h), y);
      }
      if (is_reached && !is_right) return false;
    }
    return true;
  }

  bool is_missing(std::int64_t x, std::int64_t y) const {
    return found_[y * in_.width + x] != in_.mirrored(y * in_.width + x);
  }
  bool are_missing(const std::function<bool(std::int64_t, std::int64_t)>& rule) const {
    for (std::int64_t y = 0; y < in_.height; ++y)
      for (std::int64_t x = 0; x < in_.width; ++x)
        if (is_missing(x, y) != rule(x, y)) return false;
    return true;
  }

  // "33 is 1 * 2 + 31. Is blockIdx.x multiplied by 2 ...?" if blocks of this width reach only the
  // indices before `first`, because blockIdx.x is multiplied by the number of blocks.
  static std::string wrong_factor(std::int64_t first, std::int64_t all, std::int64_t block) {
    const std::int64_t grid = ceil_div(all, block), last = (grid - 1) * grid + block - 1;
    if (last + 1 != first || first % block == 0) return "";
    return std::to_string(last) + " is " + std::to_string(grid - 1) + " * " + std::to_string(grid) +
           " + " + std::to_string(block - 1) + ". Is blockIdx.x multiplied by " +
           std::to_string(grid) + " (gridDim.x or blockDim.y?) instead of blockDim.x?";
  }

  // All pixels from out[first_] on are missing.
  std::string missing_tail() const {
    const std::int64_t all = std::ssize(found_), w = in_.width, h = in_.height, row = first_ / w;
    const std::string first = std::to_string(first_);
    const std::string tail = wrong_ == 1 ? "It is out[" + first + "]. Does it have a thread"
                                         : "They are all pixels from out[" + first +
                                               "] on. Does each of them have a thread";
    const std::string bytes = "the copies take all width * height bytes?";
    if (is_untouched_)  // the kernel writes only to the device, so no copy wrote these bytes
      return "They are all from out[" + first +
             "] on. Does the copy to the host take all width * height bytes, and does each of them "
             "have a thread?";
    if (first_ == 256 && all < 512)
      return tail + ", and is every index wider than an unsigned char (at most 255)?";
    if (w > 1 && first_ % w == 0)
      return "They are all rows from " + std::to_string(row) +
             (row == 1
                  ? " on. Is the index compared with width * height, do the copies take as many "
                    "bytes, and are there more rows of threads?"
              : 2 * row > h
                  ? " on. Does the grid round up, with the width in x and the height in y?"
                  : " on. Is the block a dim3 with several rows of threads, is the grid's y the "
                    "height divided by those rows, does y include blockIdx.y * blockDim.y, and "
                    "do " +
                        bytes);
    if (first_ == h && wrong_ > 1)
      return "They are all pixels from out[" + first + "] on, and " + first +
             " is the height: is the index compared with width * height?";
    if (first_ < 32 && all >= 64) return tail + ": <<<number of blocks, threads per block>>>?";
    for (std::int64_t block = 32; block <= 1024 && block <= first_; block *= 2) {
      if (const std::string factor = wrong_factor(first_, all, block); !factor.empty())
        return "They are all pixels from out[" + first + "] on, and " + factor;
      if (block == first_ && all >= 2 * block)
        return "They are all but the first " + first +
               ". Are there several blocks, and does the index include blockIdx.x?";
    }
    return tail + ", and do " + bytes;
  }

  // "" if no rule explains all missing pixels and no others.
  std::string missing_part() const {
    const std::int64_t w = in_.width, h = in_.height;
    if (last_ == w * h - 1 && wrong_ == w * h - first_) return missing_tail();
    std::int64_t column = 0, next_column = 0, row = 0, next_row = 0;  // missing, then present again
    while (column < w && !is_missing(column, 0)) ++column;
    for (next_column = column; next_column < w && is_missing(next_column, 0);) ++next_column;
    while (row < h && !is_missing(0, row)) ++row;
    for (next_row = row; next_row < h && is_missing(0, next_row);) ++next_row;
    const auto from = [](std::int64_t first) { return std::to_string(first) + " on"; };
    const auto of_every = [](std::int64_t first, std::int64_t period) {
      return std::to_string(first) + " to " + std::to_string(period - 1) + " of every " +
             std::to_string(period);
    };
    if (column > 0 && are_missing([&](auto x, auto) { return x >= column; })) {
      const std::string columns = "They are all columns from " + from(column);
      for (std::int64_t block = 8; block <= 1024; block *= 2)
        if (const std::string factor = wrong_factor(column, w, block); !factor.empty())
          return columns + ", and " + factor;
      return columns +
             ". Does a row of the grid have enough blocks, and is x blockIdx.x * blockDim.x + "
             "threadIdx.x?";
    }
    if (column > 0 && row > 0 &&
        are_missing([&](auto x, auto y) { return x >= column || y >= row; }))
      return "They are all columns from " + from(column) + " and all rows from " + from(row) +
             (lacks_whole_blocks(column, w) || lacks_whole_blocks(row, h)
                  ? ". Does the grid have several blocks, and do x and y include blockIdx?"
                  : ". Does the grid round up, and has dim3 the blocks in x first, then those in "
                    "y?");
    const std::string exchanged =
        ". Does x use only threadIdx.x, blockIdx.x and blockDim.x, and y only those with .y?";
    if (column > 0 && column == w / 2 && next_column == column + 1 &&
        are_missing([&](auto x, auto) { return x == column; }))
      return "They are column " + std::to_string(column) +
             ", the middle one: width / 2 rounds down. Does a loop or a condition leave it out?";
    if (column > 0 && next_column < w &&
        are_missing([&](auto x, auto) { return x % next_column >= column; }))
      return "They are columns " + of_every(column, next_column) + exchanged;
    if (row > 0 && next_row < h && are_missing([&](auto, auto y) { return y % next_row >= row; }))
      return "They are rows " + of_every(row, next_row) + exchanged;
    return "";
  }

  std::string unwritten() const {
    const std::int64_t all = std::ssize(found_);
    if (wrong_ == all && is_untouched_)
      return "nothing was written to out, or only its old bytes: is the result copied back to the "
             "host, and is in, not out, copied to the device?";
    const std::string value = std::to_string(found_[first_]);
    if (wrong_ == all)
      return "every pixel is " + value +
             ": is the picture copied to the device, does the kernel write the result, and is it "
             "copied back only then, before anything else (cudaMemset) writes to it?";
    const std::string some = plural(wrong_, "pixel") + " of " + std::to_string(all) +
                             (is_untouched_ ? wrong_ == 1 ? " was not written" : " were not written"
                              : wrong_ == 1 ? " has the wrong value " + value
                                            : " hold the same wrong value, " + value);
    if (const std::string part = missing_part(); !part.empty()) return some + ". " + part;
    return some + ". The first is out[" + std::to_string(first_) + "], and the last is out[" +
           std::to_string(last_) + "].";
  }

  const grey_picture& in_;
  std::span<const byte> found_;
  std::int64_t wrong_ = 0, first_ = 0, last_ = 0;
  bool is_one_byte_ = true;    // all wrong pixels hold the same byte
  bool is_untouched_ = false;  // and that byte filled out before the call
};

// Finds out from two further calls which pixel of `in` each pixel of `out` holds. The pixels of the
// first call are the low bytes of their indices, and those of the second call the high bytes.
std::string pixels_held(problem_call call, const grey_picture& in, const problem::results& outputs,
                        const problem::further_call& again) {
  const std::int64_t count = in.width * in.height;
  if (count > 1 << 15) return "";  // the bytes that fill `out` stand for larger indices
  std::vector<std::int64_t> held(count);
  for (const int shift : {0, 8}) {
    for (std::int64_t i = 0; i < count; ++i)
      call.buffers[0].data[i] = static_cast<std::byte>(i >> shift & 0xff);
    const auto made = again(call);
    if (!made) return "";
    for (std::int64_t i = 0; i < count; ++i)
      held[i] += std::to_integer<std::int64_t>(made->at(0)[i]) << shift;
  }
  const auto pixel = [&](std::int64_t i) {
    return "column " + std::to_string(i % in.width) + " of row " + std::to_string(i / in.width);
  };
  std::string text;
  int named = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t right = i - i % in.width + in.width - 1 - i % in.width;
    if (held[i] == right) continue;
    if (held[i] >= count || outputs.at(0)[i] != static_cast<std::byte>(in.pixels[held[i]]))
      return "";
    if (named == 2) continue;
    text += (++named == 1 ? "out[" : ", and out[") + std::to_string(i) + "], " + pixel(i) +
            ", holds " + pixel(held[i]) + " of in, not " + pixel(right);
  }
  return named == 0 ? ""
                    : text +
                          ": is an index the row times width plus the column, with the same x "
                          "and y in both indices?";
}

class first_problem : public picture_problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    const auto [width, height] = checked(n);
    problem_call call =
        call_of(width, height,
                "width = " + std::to_string(width) + ", height = " + std::to_string(height) +
                    ", seed " + std::to_string(seed));
    paint(call.buffers[0].data, width, height, stream_for(seed, width * 65536 + height));
    return call;
  }

  // Converts to grey: the mean of a pixel's three colours.
  problem_call call_with(picture rgba, const std::string& label) const override {
    const auto [width, height] = checked({rgba.width, rgba.height});
    problem_call call = call_of(width, height, label);
    for (std::int64_t i = 0; i < width * height; ++i) {
      int sum = 0;
      for (int c = 0; c < 3; ++c) sum += std::to_integer<int>(rgba.pixels[4 * i + c]);
      call.buffers[0].data[i] = static_cast<std::byte>(sum / 3);
    }
    return call;
  }

  std::vector<picture_stage> stages(const problem_call& call) const override {
    const grey_picture in = input_of(call);
    return {{"grey", {in.width, in.height, 1, call.buffers.at(0).data}},
            {"mirrored", {in.width, in.height, 1, mirrored(in)}}};
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    const grey_picture in = input_of(call);
    if (outputs.size() != 1 || outputs[0].size() != in.pixels.size()) {
      return "mirror: expected one output of " + std::to_string(in.pixels.size()) + " bytes";
    }
    if (std::ranges::equal(outputs[0], mirrored(in))) return std::nullopt;
    const wrong_picture wrong(
        in, {reinterpret_cast<const byte*>(outputs[0].data()), outputs[0].size()});
    const std::string guess = wrong.looks_like();
    return "mirror: " + wrong.first() + " (" + call.label + ")" + (guess.empty() ? "" : "; ") +
           guess;
  }

  std::string explain(const problem_call& call, const results& outputs,
                      const further_call& again) const override {
    return pixels_held(call, input_of(call), outputs, again);
  }

  // Each pixel is read once and written once. Nothing is computed from it.
  problem_work work(const size& n) const override {
    const auto [width, height] = checked(n);
    return {2 * static_cast<double>(width * height), 0, "operations"};
  }

 private:
  static problem_call call_of(std::int64_t width, std::int64_t height, const std::string& label) {
    const auto pixels = static_cast<std::uint64_t>(width * height);
    problem_call call;
    call.label = label;
    call.memory = runner::memory_kind::host;
    call.scalars = {width, height};
    call.add_input("in", pixels);
    call.add_output("out", pixels);
    for (auto& buffer : call.buffers) buffer.element_bytes = 1;
    return call;
  }

  struct shape {
    std::int64_t width, height;
  };

  static shape checked(const size& n) {
    constexpr std::int64_t longest = 65535, most = std::int64_t{1} << 30;
    if (n.size() != 2 || n[0] < 1 || n[1] < 1 || n[0] > longest || n[1] > longest ||
        n[0] * n[1] > most) {
      throw std::invalid_argument(
          "first: a size is width x height, each from 1 to 65535, their product at most 2^30");
    }
    return {n[0], n[1]};
  }
};

}  // namespace

STEPWISE_PROBLEM(first_problem)
}  // namespace stepwise
