// blur 19_prefetch: the colours of the next four rows are in flight.
//
// idea    A load takes longer than the arithmetic of a row, so the colours of the next rows are in
//         flight while this row is processed. A lane holds the quads of four rows that it has
//         requested. When it uses a quad, it requests the quad four rows further down in its place.
//         The loop is unrolled four times, so no register has to be moved.
// watch   For each row, a lane tests bounds, tests if quads are whole, and computes addresses.
// needs   Strips whose height is a multiple of four, so that no row is processed for nothing. Rows
//         below the strip are loaded too, if they are in the picture; some of them are not used.
// source  Little's law, as in the launch lab: bytes in flight = bandwidth times latency.
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
constexpr float three_22 = 3 << 22;
constexpr int three_22_bits = 0x4b400000;  // the bits of three_22

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

// out = the edges of rgba, in strips of `rows` rows
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height,
                             int rows) {
  const int lane = threadIdx.x, x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  column_sum<unsigned> blur[2];  // for two columns, one in each half of a word
  column_gradient<float> gradient[4];
  uint4 coming[ahead];
  for (int i = 0; i < ahead; ++i) coming[i] = load_quad(rgba, x, top - 4 + i, width, height);
  for (int first = top - 4; first < bottom + 4; first += ahead) {
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      const int y = first + i;
      const uint4 colours = coming[i];
      //> todo: this row was requested before; request the one `ahead` rows further down.
      coming[i] = load_quad(rgba, x, y + ahead, width, height);
      //<
      const twelve_bytes grey(lowest_bytes(grey_word(colours.x), grey_word(colours.y),
                                           grey_word(colours.z), grey_word(colours.w)));
      unsigned sum[2] = {}, edges[4];
      for (int k = 0; k < 2; ++k)
        sum[k] = blur[k](row_sum(grey, 2 * k, row_sum(grey, 2 * k + 1) << 16));
      const unsigned blurred = __byte_perm(sum[0], sum[1], 0x7531);
      const twelve_bytes b(y >= 3 && y < height + 3 ? blurred & bytes_inside(x, width) : 0);
      for (int k = 0; k < 4; ++k) {
        const unsigned around = b.from(k + 3);
        const auto g = gradient[k](__int_as_float(dot(around, 0x0100ff, three_22_bits)) - three_22,
                                   __int_as_float(dot(around, 0x010201, three_22_bits)) - three_22);
        edges[k] = short_length_of(g.x, g.y);
      }
      if (y >= top + 4 && y < bottom + 4 && lane >= 1 && lane <= 30)
        store_quad(out, x, y - 4, width, lowest_bytes(edges[0], edges[1], edges[2], edges[3]));
    }
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const int side_by_side = ceil_div(width, strip * warps);
  const int fit = std::max(1, resident_blocks(edges_kernel, 32 * warps) / side_by_side);
  const int rows =
      ahead * ceil_div(std::clamp(ceil_div(height, fit), least_rows, most_rows), ahead);
  const dim3 blocks(side_by_side, ceil_div(height, rows));
  edges_kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height, rows);
  check(cudaGetLastError());
}
