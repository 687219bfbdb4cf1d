// blur 10_blur_and_edges: blur and edges in one kernel.
//
// idea    The edge stage reads what the blur writes. In one kernel, the blurred picture stays in
//         shared memory, which saves two bytes per pixel. The price is the halo: a block blurs one
//         pixel more on each side than it finds edges for, and reads four pixels more.
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

// grey = rgba, `count` pixels
__global__ void quad_kernel(const uchar4* rgba, unsigned char* grey, int count) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (first + 3 < count) {
    const uint4 colours = reinterpret_cast<const uint4*>(rgba)[first / 4];
    const auto* const p = reinterpret_cast<const uchar4*>(&colours);
    *reinterpret_cast<uchar4*>(grey + first) = {grey_of(p[0]), grey_of(p[1]), grey_of(p[2]),
                                                grey_of(p[3])};
  } else {
    for (int i = first; i < count; ++i) grey[i] = grey_of(rgba[i]);
  }
}

// out = the edges of grey
__global__ void __launch_bounds__(threads)
    edges_kernel(const unsigned char* grey, unsigned char* out, int width, int height) {
  // Grey, starting 4 above and 4 left of the block's pixels; sums along the rows.
  __shared__ float tile[rows + 8][cols + 8], of_row[rows + 8][cols + 2];
  __shared__ short blurred[rows + 2][cols + 2];
  const int left = blockIdx.x * cols, top = blockIdx.y * rows;
  const auto inside = [&](int x, int y) { return x >= 0 && x < width && y >= 0 && y < height; };

  for_each_cell<rows + 8, cols + 8, threads>(
      [&](int j, int i) { tile[j][i] = pixel(grey, left + i - 4, top + j - 4, width, height); });
  for_each_cell<rows + 8, cols + 2, threads>([&](int j, int i) {
    float sum = 0;
    for (int k = 0; k < 7; ++k) sum = fmaf(float_weight[k], tile[j][i + k], sum);
    of_row[j][i] = sum;
  });
  //> todo: add up the columns to get the blurred pixels; those outside the picture are 0.
  for_each_cell<rows + 2, cols + 2, threads>([&](int j, int i) {
    float sum = 0;
    for (int k = 0; k < 7; ++k) sum = fmaf(float_weight[k], of_row[j + k][i], sum);
    blurred[j][i] = inside(left + i - 1, top + j - 1) ? static_cast<short>(sum / 256) : 0;
  });
  //<
  for_each_cell<rows, cols, threads>([&](int j, int i) {
    const auto pixel_at = [&](int dx, int dy) { return blurred[j + 1 + dy][i + 1 + dx]; };
    const int gx = pixel_at(1, -1) + 2 * pixel_at(1, 0) + pixel_at(1, 1) - pixel_at(-1, -1) -
                   2 * pixel_at(-1, 0) - pixel_at(-1, 1);
    const int gy = pixel_at(-1, 1) + 2 * pixel_at(0, 1) + pixel_at(1, 1) - pixel_at(-1, -1) -
                   2 * pixel_at(0, -1) - pixel_at(1, -1);
    if (inside(left + i, top + j)) out[(top + j) * width + left + i] = length_of(gx, gy);
  });
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  const int count = width * height;
  quad_kernel<<<ceil_div(count, 4 * 256), 256>>>(rgba, grey, count);
  check(cudaGetLastError());
  edges_kernel<<<blocks_for(width, height, dim3(cols, rows)), threads>>>(grey, out, width, height);
  check(cudaGetLastError());
}
