// blur 21_alternating_signs: gx and gy are squared, so rows may alternate their sign.
//
// idea    gx adds the differences of three rows with weights 1 2 1: it adds pairs of rows, and then
//         two pairs. If every other row computes left minus right, the sum of a pair becomes, up to
//         its sign, a difference. Subtracting also cancels the 3 * 2^22 that the float dot products
//         start from, so rows need not remove it. gx takes two operations and gy takes one, instead
//         of three and two.
// watch   Three things limit the step together: 5 bytes per pixel; the instructions of a row, which
//         depend on each other; and registers, which leave few warps to fill the gaps.
// needs   An even number of rows in the unrolled loop: the compiler then knows each row's sign.
// source  Sobel's filter is separable: 1 2 1 is 1 1 applied twice.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "solutions/blur/parts/byte_arithmetic.hpp"
#include "solutions/blur/parts/column_filter.hpp"
#include "solutions/blur/parts/column_gradient.hpp"
#include "solutions/blur/parts/neighbour_lanes.hpp"
#include "solutions/blur/parts/resident_blocks.hpp"
#include "solutions/blur/parts/vector_access.hpp"

constexpr int strip = 30 * 4, warps = 4;         // columns per warp; warps per block
constexpr int ahead = 4;                         // rows in flight
constexpr int least_rows = 16, most_rows = 128;  // per warp
constexpr int three_22_bits = 0x4b400000;        // the bits of 3 * 2^22 as a float
static_assert(ahead % 2 == 0);

// A word whose lowest byte is the integer part of value / unit, 0 <= value < 256 * unit.
__device__ inline unsigned whole_part(float value, float unit) {
  return __float_as_uint(__fadd_rz(value, unit * (1 << 23)));
}

// A word whose lowest byte is the square root of gx * gx + gy * gy, truncated, at most 255.
__device__ inline unsigned short_length_of(float gx, float gy) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaf(gx, gx, fmaf(gy, gy, 0.5f))));
  return whole_part(fminf(root, 255), 1);
}

// A word whose lowest byte is the grey value of a colour, computed in units of 2^-22.
__device__ inline unsigned grey_word(unsigned p) {
  const float red = __uint_as_float(p & 0xff), green = __uint_as_float(p & 0xff00);
  const float blue = __uint_as_float(p & 0xff0000);
  const float red_and_green = fmaf(red, 0.298839f * 0x1p127f, green * (0.586811f * 0x1p119f));
  return whole_part(fmaf(blue, 0.114350f * 0x1p111f, red_and_green), 0x1p-22f);
}

// Sobel's gx and gy of a column in the row before the last, each with either sign. A row supplies
// the difference of the pixel's neighbours, alternately right minus left and left minus right, and
// the sum of all three with the weights 1 2 1, as a float that is 3 * 2^22 larger.
struct gradient_of_either_sign {
  int difference1 = 0;
  float pair1 = 0, smooth1 = 0, smooth2 = 0;  // 1 or 2 rows ago
  //> todo: write operator()(difference, smooth): gx is a difference of pairs of rows, gy of rows.
  __device__ float2 operator()(int difference, float smooth) {
    const float pair = __int_as_float(difference - difference1 + three_22_bits);
    const float2 g = {pair - pair1, smooth - smooth2};
    difference1 = difference;
    pair1 = pair;
    smooth2 = smooth1;
    smooth1 = smooth;
    return g;
  }
  //<
};

// out = the edges of rgba, in strips of `rows` rows. whole: as in vector_access.hpp
template <bool whole>
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height,
                             int rows) {
  const int lane = threadIdx.x, x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  const bool inside = x >= 0 && x < width, stores = inside && lane >= 1 && lane <= 30;
  const unsigned mask = bytes_inside(x, width);
  const auto is_row = [&](int y) { return unsigned(y) < unsigned(height); };
  column_sum<unsigned> blur[2];  // for two columns, one in each half of a word
  gradient_of_either_sign gradient[4];
  uint4 coming[ahead];
  int from = (top - 4) * width + x, to = from - 4 * width;  // of the next load and the next store
  const auto load_next = [&](int y) {
    const uint4 quad = inside && is_row(y) ? quad_at<whole>(rgba + from, width - x) : uint4{};
    from += width;
    return quad;
  };
  for (int i = 0; i < ahead; ++i) coming[i] = load_next(top - 4 + i);
  for (int first = top - 4; first < bottom + 4; first += ahead) {
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      const int y = first + i;
      const uint4 colours = coming[i];
      coming[i] = load_next(y + ahead);
      const twelve_bytes grey(lowest_bytes(grey_word(colours.x), grey_word(colours.y),
                                           grey_word(colours.z), grey_word(colours.w)));
      unsigned sum[2] = {}, edges[4];
      for (int k = 0; k < 2; ++k)
        sum[k] = blur[k](row_sum(grey, 2 * k, row_sum(grey, 2 * k + 1) << 16));
      const unsigned blurred = __byte_perm(sum[0], sum[1], 0x7531);
      const twelve_bytes b(is_row(y - 3) ? blurred & mask : 0);
      //> todo: compute edge row y - 4 of the quad, whose differences change sign from row to row.
      for (int k = 0; k < 4; ++k) {
        const unsigned around = b.from(k + 3);
        const auto g = gradient[k](dot(around, i % 2 == 0 ? 0x0100ff : 0xff0001),
                                   __int_as_float(dot(around, 0x010201, three_22_bits)));
        edges[k] = short_length_of(g.x, g.y);
      }
      if (stores && unsigned(y - 4 - top) < unsigned(bottom - top))
        store_at<whole>(out + to, width - x, lowest_bytes(edges[0], edges[1], edges[2], edges[3]));
      //<
      to += width;
    }
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  auto* const kernel = width % 4 == 0 ? edges_kernel<true> : edges_kernel<false>;
  const int side_by_side = ceil_div(width, strip * warps);
  const int fit = std::max(1, resident_blocks(kernel, 32 * warps) / side_by_side);
  const int rows =
      ahead * ceil_div(std::clamp(ceil_div(height, fit), least_rows, most_rows), ahead);
  const dim3 blocks(side_by_side, ceil_div(height, rows));
  kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height, rows);
  check(cudaGetLastError());
}
