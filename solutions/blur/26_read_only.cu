// blur 26_read_only: promises the compiler that its inputs are read-only.
//
// idea    const and __restrict__ promise that no store changes what a pointer reads. On GPUs with a
//         separate read-only cache next to L1, such loads went through that cache. Today there is
//         only one cache: the instruction has another name (ld.global.nc) and takes the same time.
// gain    None on current GPUs; the step is here because the original has it.
// watch   The promise still lets the compiler keep values that a store might have changed.
// needs   `grey` and `blurred` do not overlap: the contract says so.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 50.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4;                         // per block
constexpr int tile_cols = cols + 6, tile_rows = rows + 6;  // including the halo

//> todo: write blur_kernel again, with a promise that no store changes its inputs.
// blurred = the blurred grey picture
__global__ void blur_kernel(const unsigned char* __restrict__ grey,
                            unsigned char* __restrict__ blurred, int width, int height) {
  __shared__ unsigned char tile[tile_rows][tile_cols];
  const int left = blockIdx.x * cols, top = blockIdx.y * rows;
  for (int t = threadIdx.y * cols + threadIdx.x; t < tile_rows * tile_cols; t += cols * rows) {
    const int i = t % tile_cols, j = t / tile_cols;
    tile[j][i] = pixel(grey, left + i - 3, top + j - 3, width, height);
  }
  __syncthreads();
  const int x = left + threadIdx.x, y = top + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int j = 0; j < 7; ++j) {
    for (int i = 0; i < 7; ++i)
      sum += weight[j] * weight[i] * tile[threadIdx.y + j][threadIdx.x + i];
  }
  blurred[y * width + x] = static_cast<unsigned char>(sum >> 8);
}
//<

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  unsigned char* const blurred = scratch + picture_bytes(width, height);
  make_grey(rgba, grey, width, height);
  //> todo: launch the kernel that makes this promise.
  const dim3 threads(cols, rows);
  blur_kernel<<<blocks_for(width, height, threads), threads>>>(grey, blurred, width, height);
  check(cudaGetLastError());
  //<
  find_edges(blurred, out, width, height);
}
