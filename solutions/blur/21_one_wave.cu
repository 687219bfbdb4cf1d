// blur 21_one_wave: strips so high that all of them run at once.
//
// idea    Strips of 64 rows are a guess. A small picture has too few to fill the GPU, a large one
//         has many, and each processes eight rows more than it stores. Now there are as many strips
//         as the GPU holds at once, all of the same height.
// watch   Every lane still waits for its loads before it can start the arithmetic of a row.
// needs   No strip of fewer than 16 rows: the halo would be most of its work. None of more than 128
//         either: the halo is already small there, and strips of a large picture that all run at
//         once lie far apart in memory, which proved slower.
// source  CUDA Runtime API, cudaOccupancyMaxActiveBlocksPerMultiprocessor.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "solutions/blur/parts/byte_arithmetic.hpp"

constexpr int strip = 30 * 4, warps = 4;         // columns per warp; warps per block
constexpr int least_rows = 16, most_rows = 128;  // per warp

// out = the edges of rgba, in strips of `rows` rows
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height,
                             int rows) {
  const int lane = threadIdx.x, x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  column_sum<unsigned> blur[2];  // for two columns, one in each half of a word
  column_gradient<float> gradient[4];
  for (int y = top - 4; y < bottom + 4; ++y) {
    const uint4 colours = load_quad(rgba, x, y, width, height);
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
    if (y >= top + 4 && lane >= 1 && lane <= 30)
      store_quad(out, x, y - 4, width, lowest_bytes(edges[0], edges[1], edges[2], edges[3]));
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const int side_by_side = ceil_div(width, strip * warps);
  //> todo: compute how many blocks fit one below the other, and how high they are; launch them.
  const int fit = std::max(1, resident_blocks(edges_kernel, 32 * warps) / side_by_side);
  const int rows = std::clamp(ceil_div(height, fit), least_rows, most_rows);
  const dim3 blocks(side_by_side, ceil_div(height, rows));
  edges_kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height, rows);
  //<
  check(cudaGetLastError());
}
