// blur baseline: the CPU. Every thread takes strips of rows, and its caches hold the rows that it
// needs. A row is made grey and summed along x. Seven such rows are then summed along y, and
// three blurred rows give a row of edges. All is in vector registers; the sums fit in 16 bits.
//
// watch   A strip needs four more rows above and below, which its neighbours compute as well.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/cpu/clones.hpp"
#include "common/cpu/thread_team.hpp"
#include "labs/blur/blur.hpp"

namespace {

using byte = unsigned char;
using std::int64_t;

constexpr int least_rows = 16;  // per strip

STEPWISE_CLONES void make_grey(const std::uint32_t* rgba, byte* grey, int width) {
  for (int x = 0; x < width; ++x) {
    const auto red = static_cast<float>(static_cast<int>(rgba[x] & 255));
    const auto green = static_cast<float>(static_cast<int>(rgba[x] >> 8 & 255));
    const auto blue = static_cast<float>(static_cast<int>(rgba[x] >> 16 & 255));
    const float value = std::fmaf(blue, 0.114350f, std::fmaf(red, 0.298839f, green * 0.586811f));
    grey[x] = static_cast<byte>(static_cast<int>(value));
  }
}

// Weights 1 2 3 4 3 2 1. grey[x] is three pixels left of the centre.
STEPWISE_CLONES void sum_along_x(const byte* grey, std::uint16_t* sums, int width) {
  for (int x = 0; x < width; ++x) {
    sums[x] = static_cast<std::uint16_t>(grey[x] + grey[x + 6] + 2 * (grey[x + 1] + grey[x + 5]) +
                                         3 * (grey[x + 2] + grey[x + 4]) + 4 * grey[x + 3]);
  }
}

using seven_rows = std::array<const std::uint16_t*, 7>;

STEPWISE_CLONES void sum_along_y(const seven_rows& rows, byte* blurred, int width) {
  const std::uint16_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4],
                      *f = rows[5], *g = rows[6];
  for (int x = 0; x < width; ++x) {
    const auto sum =
        static_cast<std::uint16_t>(a[x] + g[x] + 2 * (b[x] + f[x]) + 3 * (c[x] + e[x]) + 4 * d[x]);
    blurred[x] = static_cast<byte>(sum >> 8);
  }
}

// The rows start one pixel to the left. The root of a number below 2^21 is exact enough to
// truncate: it is an integer, or differs from one by more than a float's rounding.
STEPWISE_CLONES void find_edges(const byte* above, const byte* here, const byte* below, byte* out,
                                int width) {
  for (int x = 0; x < width; ++x) {
    const int left = above[x] + 2 * here[x] + below[x];
    const int right = above[x + 2] + 2 * here[x + 2] + below[x + 2];
    const int top = above[x] + 2 * above[x + 1] + above[x + 2];
    const int bottom = below[x] + 2 * below[x + 1] + below[x + 2];
    const int gx = right - left, gy = bottom - top;
    const auto root = static_cast<int>(std::sqrt(static_cast<float>(gx * gx + gy * gy)));
    out[x] = static_cast<byte>(std::min(root, 255));
  }
}

// A thread's data of the rows around its current row. Everything outside the picture is 0.
class strip {
 public:
  strip(const std::uint32_t* rgba, byte* out, int width, int height)
      : rgba_(rgba), out_(out), width_(width), height_(height), grey_(width + 6) {
    for (auto& row : sums_) row.assign(width, 0);
    for (auto& row : blurred_) row.assign(width + 2, 0);
  }

  void make(int64_t begin, int64_t end) {
    for (int64_t y = begin - 4; y < end + 4; ++y) {
      sum_row(y);
      if (y - 3 < begin - 1) continue;  // with y there are seven rows, and y - 3 is the middle one
      blur_row(y - 3);
      if (y - 4 < begin) continue;
      find_edges(blurred(y - 5), blurred(y - 4), blurred(y - 3), out_ + (y - 4) * width_, width_);
    }
  }

 private:
  bool is_inside(int64_t y) const { return y >= 0 && y < height_; }
  std::uint16_t* sums(int64_t y) { return sums_[static_cast<std::size_t>(y + 8) % 7].data(); }
  byte* blurred(int64_t y) { return blurred_[static_cast<std::size_t>(y + 9) % 3].data(); }

  void sum_row(int64_t y) {
    if (!is_inside(y)) {
      std::fill_n(sums(y), width_, std::uint16_t{0});
      return;
    }
    make_grey(rgba_ + y * width_, grey_.data() + 3, width_);
    sum_along_x(grey_.data(), sums(y), width_);
  }

  void blur_row(int64_t y) {
    if (!is_inside(y)) {
      std::fill_n(blurred(y), width_ + 2, byte{0});
      return;
    }
    seven_rows rows;
    for (int j = 0; j < 7; ++j) rows[j] = sums(y + j - 3);
    sum_along_y(rows, blurred(y) + 1, width_);
  }

  const std::uint32_t* rgba_;
  byte* out_;
  int width_, height_;
  std::vector<byte> grey_;                          // with three zeros at each end
  std::array<std::vector<std::uint16_t>, 7> sums_;  // at the row's number, modulo 7
  std::array<std::vector<byte>, 3> blurred_;        // with a zero at each end
};

}  // namespace

void edges(const uchar4* rgba, unsigned char* out, unsigned char*, int width, int height) {
  namespace host = stepwise::host;
  const auto* const pixels = reinterpret_cast<const std::uint32_t*>(rgba);
  const int64_t wanted = 4 * host::all_threads().size();  // several each, to end together
  const int64_t rows = std::max<int64_t>(least_rows, (height + wanted - 1) / wanted);
  host::in_chunks((height + rows - 1) / rows, [&](int64_t i) {
    strip(pixels, out, width, height).make(i * rows, std::min<int64_t>((i + 1) * rows, height));
  });
}
