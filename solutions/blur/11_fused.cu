// blur 11_fused: all stages in one kernel: 5 bytes per pixel.
//
// idea    The grey picture stays on the chip as well: only colours are read and only edges are
//         written, 5 bytes per pixel. Up to four blocks convert the same halo pixels to grey, which
//         costs less than writing a byte and reading it again.
// watch   There are three barriers, and between them every thread does a different part of the
//         tile's work. With a larger tile, the halo's share is smaller, but fewer blocks fit.
// needs   Outside the picture, grey and blurred pixels are 0, in the halo as well.
// source  Kernel fusion, as in J. Ragan-Kelley et al., "Halide" (2013): locality against redundant
//         work.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"
#include "solutions/blur/parts/block_stride.hpp"

constexpr int cols = 64, rows = 32, threads = 256;  // per block

__constant__ const float float_weight[7] = {1, 2, 3, 4, 3, 2, 1};

// out = the edges of rgba
__global__ void __launch_bounds__(threads)
    edges_kernel(const uchar4* rgba, unsigned char* out, int width, int height) {
  // Grey, starting 4 above and 4 left of the block's pixels; sums along the rows.
  __shared__ float tile[rows + 8][cols + 8], of_row[rows + 8][cols + 2];
  __shared__ short blurred[rows + 2][cols + 2];
  const int left = blockIdx.x * cols, top = blockIdx.y * rows;
  const auto inside = [&](int x, int y) { return x >= 0 && x < width && y >= 0 && y < height; };

  for_each_cell<rows + 8, cols + 8, threads>([&](int j, int i) {
    const int x = left + i - 4, y = top + j - 4;
    //> todo: store the pixel's grey value, or 0 outside the picture.
    tile[j][i] = inside(x, y) ? grey_of(rgba[y * width + x]) : 0;
    //<
  });
  for_each_cell<rows + 8, cols + 2, threads>([&](int j, int i) {
    float sum = 0;
    for (int k = 0; k < 7; ++k) sum = fmaf(float_weight[k], tile[j][i + k], sum);
    of_row[j][i] = sum;
  });
  for_each_cell<rows + 2, cols + 2, threads>([&](int j, int i) {
    float sum = 0;
    for (int k = 0; k < 7; ++k) sum = fmaf(float_weight[k], of_row[j + k][i], sum);
    blurred[j][i] = inside(left + i - 1, top + j - 1) ? static_cast<short>(sum / 256) : 0;
  });
  for_each_cell<rows, cols, threads>([&](int j, int i) {
    const auto pixel_at = [&](int dx, int dy) { return blurred[j + 1 + dy][i + 1 + dx]; };
    const int gx = pixel_at(1, -1) + 2 * pixel_at(1, 0) + pixel_at(1, 1) - pixel_at(-1, -1) -
                   2 * pixel_at(-1, 0) - pixel_at(-1, 1);
    const int gy = pixel_at(-1, 1) + 2 * pixel_at(0, 1) + pixel_at(1, 1) - pixel_at(-1, -1) -
                   2 * pixel_at(0, -1) - pixel_at(1, -1);
    if (inside(left + i, top + j)) out[(top + j) * width + left + i] = length_of(gx, gy);
  });
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* /*scratch*/, int width,
           int height) {
  edges_kernel<<<blocks_for(width, height, dim3(cols, rows)), threads>>>(rgba, out, width, height);
  check(cudaGetLastError());
}
