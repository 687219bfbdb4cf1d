// blur 22_prefetch: the colours of the next four rows are in flight.
//
// idea    A load takes longer than the arithmetic of a row, so the colours of the next rows are in
//         flight while this row is processed. A lane holds the quads of four rows that it has
//         requested. When it takes one, it requests the one four rows further down in its place.
//         The loop is unrolled four times, so that no register has to be moved.
// watch   Each row tests whether it is in the picture and quads are whole, and computes addresses.
// needs   Strips of a multiple of four rows, so that no row is processed for nothing. Rows below
//         the strip are loaded as well, while they are in the picture: a few are not used.
// source  Little's law, as in the launch lab: bytes in flight = bandwidth times latency.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "solutions/blur/parts/byte_arithmetic.hpp"

constexpr int strip = 30 * 4, warps = 4;         // columns per warp; warps per block
constexpr int ahead = 4;                         // rows in flight
constexpr int least_rows = 16, most_rows = 128;  // per warp

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
      uint4 colours = {0, 0, 0, 0};
      //> todo: take the row that was requested, and request the one `ahead` rows further down.
      colours = coming[i];
      coming[i] = load_quad(rgba, x, y + ahead, width, height);
      //<
      const twelve_bytes grey(grey_bytes(colours));
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
