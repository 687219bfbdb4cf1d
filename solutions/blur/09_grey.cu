// blur 09_grey: the grey stage: four pixels per thread.
//
// idea    Four neighbouring pixels take one load, 16 bytes of colour, and one store, 4 bytes of
//         grey. A grey value does not depend on its neighbours, so rows do not matter: the picture
//         is one array, and at most the last three pixels are converted one by one.
// watch   Two intermediate pictures, grey and blurred, are written to memory and read again: 4
//         bytes per pixel on top of the 5 that must be moved.
// needs   Pictures that begin at a multiple of 16 bytes, which the contract promises.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 91, for
//         the grey stage, whose public version leaves out seven rows of 16.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4, outputs = 4;                      // per block; rows per thread
constexpr int tile_cols = cols + 6, tile_rows = rows * outputs + 6;  // including the halo

__constant__ const float float_weight[7] = {1, 2, 3, 4, 3, 2, 1};

// grey = rgba, `count` pixels
__global__ void quad_kernel(const uchar4* rgba, unsigned char* grey, int count) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  //> todo: convert four pixels with one load and one store; the last ones, if fewer, one by one.
  if (first + 3 < count) {
    const uint4 colours = reinterpret_cast<const uint4*>(rgba)[first / 4];
    const auto* const p = reinterpret_cast<const uchar4*>(&colours);
    *reinterpret_cast<uchar4*>(grey + first) = {grey_of(p[0]), grey_of(p[1]), grey_of(p[2]),
                                                grey_of(p[3])};
  } else {
    for (int i = first; i < count; ++i) grey[i] = grey_of(rgba[i]);
  }
  //<
}

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
    const auto pixel_at = [&](int dx, int dy) { return tile[j + 1 + dy][i + 1 + dx]; };
    const int gx = pixel_at(1, -1) + 2 * pixel_at(1, 0) + pixel_at(1, 1) - pixel_at(-1, -1) -
                   2 * pixel_at(-1, 0) - pixel_at(-1, 1);
    const int gy = pixel_at(-1, 1) + 2 * pixel_at(0, 1) + pixel_at(1, 1) - pixel_at(-1, -1) -
                   2 * pixel_at(0, -1) - pixel_at(1, -1);
    if (x < width && y < height) out[y * width + x] = length_of(gx, gy);
  }
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  unsigned char* const blurred = scratch + picture_bytes(width, height);
  const int count = width * height;
  quad_kernel<<<ceil_div(count, 4 * 256), 256>>>(rgba, grey, count);
  check(cudaGetLastError());
  const dim3 threads(cols, rows);
  const dim3 blocks = blocks_for(width, height, dim3(cols, rows * outputs));
  blur_kernel<<<blocks, threads>>>(grey, blurred, width, height);
  check(cudaGetLastError());
  sobel_kernel<<<blocks, threads>>>(blurred, out, width, height);
  check(cudaGetLastError());
}
