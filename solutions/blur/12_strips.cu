// blur 12_strips: warps walk down the picture: registers and shuffles, no tile.
//
// idea    A lane owns four columns and a warp owns 128. The warp goes from row to row. Values from
//         the rows above are in registers, and values from adjacent columns are in adjacent lanes.
//         There is no tile, no barrier, and no index to divide: once a row is loaded, the edges
//         four rows further up are complete.
// watch   A pixel adds the sums of seven rows, six of which the pixel below needs too. A small
//         picture has few strips, which leave most of the GPU idle. 11_fused wins at 1920 x 1080.
// needs   The first and the last lane are the halo and store nothing. A warp reads rows from 4
//         above its strip to 4 below it. A lane's four grey bytes, a quad, travel as one word.
// source  P. Micikevicius, "3D Finite Difference Computation on GPUs using CUDA" (2009).
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"
#include "solutions/blur/parts/column_gradient.hpp"
#include "solutions/blur/parts/neighbour_lanes.hpp"
#include "solutions/blur/parts/vector_access.hpp"

constexpr int strip = 30 * 4, rows = 64, warps = 4;  // columns, rows per warp; warps per block

// out = the edges of rgba
__global__ void edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height) {
  const int lane = threadIdx.x, x = (blockIdx.x * warps + threadIdx.y) * strip + 4 * (lane - 1);
  const int top = blockIdx.y * rows, bottom = min(top + rows, height);
  int of_rows[4][7] = {};  // per column: the last seven sums along a row
  column_gradient<int> gradient[4];
  for (int y = top - 4; y < bottom + 4; ++y) {
    const twelve_bytes grey(grey_quad(load_quad(rgba, x, y, width, height)));
    //> todo: compute blurred row y - 3 (0 outside) and edge row y - 4 of the quad; store the edges.
    unsigned blurred = 0, edges = 0;
    for (int k = 0; k < 4; ++k) {
      int sum = 0;
      for (int j = 0; j < 6; ++j) of_rows[k][j] = of_rows[k][j + 1];
      of_rows[k][6] = 0;
      for (int i = 0; i < 7; ++i) of_rows[k][6] += weight[i] * grey[k + i + 1];
      for (int j = 0; j < 7; ++j) sum += weight[j] * of_rows[k][j];
      blurred |= sum >> 8 << 8 * k;
    }
    const twelve_bytes b(y >= 3 && y < height + 3 ? blurred & bytes_inside(x, width) : 0);
    for (int k = 0; k < 4; ++k) {
      const auto g = gradient[k](b[k + 5] - b[k + 3], b[k + 3] + 2 * b[k + 4] + b[k + 5]);
      edges |= length_of(g.x, g.y) << 8 * k;
    }
    if (y >= top + 4 && lane >= 1 && lane <= 30) store_quad(out, x, y - 4, width, edges);
    //<
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  const dim3 blocks(ceil_div(width, strip * warps), ceil_div(height, rows));
  edges_kernel<<<blocks, dim3(32, warps)>>>(rgba, out, width, height);
  check(cudaGetLastError());
}
