// blur 11_fused, compute only: all stages between registers and shared memory.
//
// keeps   Grey, both directions of the blur, the edges; the tiles in shared memory, all barriers. A
//         pixel's index, as four bytes, takes the place of its colour.
// lacks   Loads and stores of global memory. `zero` is 0, but the compiler does not know that, so
//         the kernel must compute a pixel to find out that it is not stored.
// holds   8 blocks of 256 threads, all that a multiprocessor holds, as in the step.
// A yardstick for `./lab limits blur`: its result is wrong. Tested by labs/tests/limits_test.cpp.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"
#include "solutions/blur/parts/block_stride.hpp"

constexpr int cols = 64, rows = 32, threads = 256;  // per block

__constant__ const float float_weight[7] = {1, 2, 3, 4, 3, 2, 1};

// The four bytes of a number.
__device__ uchar4 bytes_of(unsigned n) {
  return make_uchar4(n & 255, n >> 8 & 255, n >> 16 & 255, n >> 24);
}

__global__ void __launch_bounds__(threads)
    edges_kernel(unsigned char* out, int width, int height, int zero) {
  __shared__ float tile[rows + 8][cols + 8];    // starts 4 above and left of the block's pixels
  __shared__ float of_row[rows + 8][cols + 2];  // sums along the rows
  __shared__ short blurred[rows + 2][cols + 2];
  const int left = blockIdx.x * cols, top = blockIdx.y * rows;
  const auto inside = [&](int x, int y) { return x >= 0 && x < width && y >= 0 && y < height; };

  for_each_cell<rows + 8, cols + 8, threads>([&](int j, int i) {
    const int x = left + i - 4, y = top + j - 4;
    tile[j][i] = inside(x, y) ? grey_of(bytes_of(y * width + x)) : 0;
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
    const unsigned char length = length_of(gx, gy);
    if (inside(left + i, top + j) && length * zero == 1) out[(top + j) * width + left + i] = length;
  });
}

void edges(const uchar4*, unsigned char* out, unsigned char* /*scratch*/, int width, int height) {
  edges_kernel<<<blocks_for(width, height, dim3(cols, rows)), threads>>>(out, width, height, 0);
  check(cudaGetLastError());
}
