// blur 08_edges: the edge stage: a tile in shared memory, four pixels per thread.
//
// idea    The blur no longer takes the most time, so profile again. The edge stage reads 8 bytes of
//         global memory per pixel, one at a time. It now gets what helped the blur: a tile in
//         shared memory, and four rows per thread. The thread walks down its column, so the
//         compiler can keep the values that the next row needs.
// watch   The grey stage moves the most bytes, four in and one out, and stores one byte at a time.
// needs   Outside the picture, blurred pixels count as 0, as grey pixels do.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 91.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4, outputs = 4;                      // per block; rows per thread
constexpr int tile_cols = cols + 6, tile_rows = rows * outputs + 6;  // including the halo

__constant__ const float float_weight[7] = {1, 2, 3, 4, 3, 2, 1};

// blurred = the blurred grey picture
__global__ void blur_kernel(const unsigned char* grey, unsigned char* blurred, int width,
                            int height) {
  __shared__ float tile[tile_rows][tile_cols];
  __shared__ float of_row[tile_rows][cols];  // sums along the rows
  const int left = blockIdx.x * cols, top = blockIdx.y * rows * outputs;
  for (int t = threadIdx.y * cols + threadIdx.x; t < tile_rows * tile_cols; t += cols * rows) {
    const int i = t % tile_cols, j = t / tile_cols;
    tile[j][i] = pixel(grey, left + i - 3, top + j - 3, width, height);
  }
  __syncthreads();
  for (int j = threadIdx.y, i = threadIdx.x; j < tile_rows; j += rows) {
    float sum = 0;
    for (int k = 0; k < 7; ++k) sum = fmaf(float_weight[k], tile[j][i + k], sum);
    of_row[j][i] = sum;
  }
  __syncthreads();
  const int first = threadIdx.y * outputs, x = left + threadIdx.x, y = top + first;
  float sum[outputs] = {};
  for (int j = 0; j < 6 + outputs; ++j) {
    const float read = of_row[first + j][threadIdx.x];
    for (int k = 0; k < outputs; ++k)
      if (j >= k && j < k + 7) sum[k] = fmaf(float_weight[j - k], read, sum[k]);
  }
  for (int k = 0; k < outputs; ++k)
    if (x < width && y + k < height)
      blurred[(y + k) * width + x] = static_cast<unsigned char>(sum[k] / 256);
}

// out = the edges of blurred
__global__ void sobel_kernel(const unsigned char* blurred, unsigned char* out, int width,
                             int height) {
  __shared__ int tile[rows * outputs + 2][cols + 2];
  const int left = blockIdx.x * cols, top = blockIdx.y * rows * outputs;
  for (int t = threadIdx.y * cols + threadIdx.x; t < (rows * outputs + 2) * (cols + 2);
       t += cols * rows) {
    const int i = t % (cols + 2), j = t / (cols + 2);
    tile[j][i] = pixel(blurred, left + i - 1, top + j - 1, width, height);
  }
  __syncthreads();
  for (int k = 0; k < outputs; ++k) {
    const int j = threadIdx.y * outputs + k, i = threadIdx.x, x = left + i, y = top + j;
    //> todo: compute gx and gy of this pixel; its neighbours are tile[j][i] to tile[j + 2][i + 2].
    const auto pixel_at = [&](int dx, int dy) { return tile[j + 1 + dy][i + 1 + dx]; };
    const int gx = pixel_at(1, -1) + 2 * pixel_at(1, 0) + pixel_at(1, 1) - pixel_at(-1, -1) -
                   2 * pixel_at(-1, 0) - pixel_at(-1, 1);
    const int gy = pixel_at(-1, 1) + 2 * pixel_at(0, 1) + pixel_at(1, 1) - pixel_at(-1, -1) -
                   2 * pixel_at(0, -1) - pixel_at(1, -1);
    if (x < width && y < height) out[y * width + x] = length_of(gx, gy);
    //<
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  unsigned char* const blurred = scratch + picture_bytes(width, height);
  make_grey(rgba, grey, width, height);
  const dim3 threads(cols, rows);
  const dim3 blocks = blocks_for(width, height, dim3(cols, rows * outputs));
  blur_kernel<<<blocks, threads>>>(grey, blurred, width, height);
  check(cudaGetLastError());
  sobel_kernel<<<blocks, threads>>>(blurred, out, width, height);
  check(cudaGetLastError());
}
