// blur 05_separable: rows first, then columns: 14 multiply-adds instead of 49.
//
// idea    A weight is w(i) * w(j), so the sum along a row need not be repeated for each of the
//         seven pixels of a column that use it. Sums along the rows go to shared memory. Seven of
//         them, one below the other, add up to a pixel. That takes 14 multiply-adds instead of 49,
//         plus the rows of the halo.
// watch   Another barrier and shared-memory trip are needed, and 10 rows of sums for 4 pixel rows.
// needs   nothing. Integer sums are the same in any order, and stay below 2^16.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 60.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4;                         // per block
constexpr int tile_cols = cols + 6, tile_rows = rows + 6;  // including the halo

// blurred = the blurred grey picture
__global__ void blur_kernel(const unsigned char* grey, unsigned char* blurred, int width,
                            int height) {
  __shared__ unsigned char tile[tile_rows][tile_cols];
  __shared__ int of_row[tile_rows][cols];  // sums along the rows
  const int left = blockIdx.x * cols, top = blockIdx.y * rows;
  for (int t = threadIdx.y * cols + threadIdx.x; t < tile_rows * tile_cols; t += cols * rows) {
    const int i = t % tile_cols, j = t / tile_cols;
    tile[j][i] = pixel(grey, left + i - 3, top + j - 3, width, height);
  }
  __syncthreads();
  //> todo: compute the sums along all rows of the tile together; wait for the block.
  for (int j = threadIdx.y, i = threadIdx.x; j < tile_rows; j += rows) {
    int sum = 0;
    for (int k = 0; k < 7; ++k) sum += weight[k] * tile[j][i + k];
    of_row[j][i] = sum;
  }
  __syncthreads();
  //<
  const int x = left + threadIdx.x, y = top + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int j = 0; j < 7; ++j) sum += weight[j] * of_row[threadIdx.y + j][threadIdx.x];
  blurred[y * width + x] = static_cast<unsigned char>(sum >> 8);
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  unsigned char* const blurred = scratch + picture_bytes(width, height);
  make_grey(rgba, grey, width, height);
  const dim3 threads(cols, rows);
  blur_kernel<<<blocks_for(width, height, threads), threads>>>(grey, blurred, width, height);
  check(cudaGetLastError());
  find_edges(blurred, out, width, height);
}
