// blur 06_separable_outputs: four pixels per thread: less halo.
//
// idea    Only 4 of 05's 10 rows of sums are for the block's own rows; the rest is halo. With four
//         rows per thread, a block covers 16 rows and computes 22 rows of sums: 1.4 per row, not
//         2.5. A thread reads ten sums of a column, each once, and computes four pixels from them.
// watch   The arithmetic is on integers, byte by byte. Almost all instructions are reads of shared
//         memory and integer multiply-adds.
// needs   nothing: some of a thread's rows may lie beyond the edge.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 70,
//         which has two rows per thread.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4, outputs = 4;                      // per block; rows per thread
constexpr int tile_cols = cols + 6, tile_rows = rows * outputs + 6;  // including the halo

// blurred = the blurred grey picture
__global__ void blur_kernel(const unsigned char* grey, unsigned char* blurred, int width,
                            int height) {
  __shared__ unsigned char tile[tile_rows][tile_cols];
  __shared__ int of_row[tile_rows][cols];  // sums along the rows
  const int left = blockIdx.x * cols, top = blockIdx.y * rows * outputs;
  for (int t = threadIdx.y * cols + threadIdx.x; t < tile_rows * tile_cols; t += cols * rows) {
    const int i = t % tile_cols, j = t / tile_cols;
    tile[j][i] = pixel(grey, left + i - 3, top + j - 3, width, height);
  }
  __syncthreads();
  for (int j = threadIdx.y, i = threadIdx.x; j < tile_rows; j += rows) {
    int sum = 0;
    for (int k = 0; k < 7; ++k) sum += weight[k] * tile[j][i + k];
    of_row[j][i] = sum;
  }
  __syncthreads();
  const int first = threadIdx.y * outputs, x = left + threadIdx.x, y = top + first;
  int sum[outputs] = {};
  for (int j = 0; j < 6 + outputs; ++j) {
    const int read = of_row[first + j][threadIdx.x];
    //> todo: add this sum to up to four of the thread's rows, with the right weights.
    for (int k = 0; k < outputs; ++k)
      if (j >= k && j < k + 7) sum[k] += weight[j - k] * read;
    //<
  }
  for (int k = 0; k < outputs; ++k)
    if (x < width && y + k < height)
      blurred[(y + k) * width + x] = static_cast<unsigned char>(sum[k] >> 8);
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  unsigned char* const blurred = scratch + picture_bytes(width, height);
  make_grey(rgba, grey, width, height);
  const dim3 threads(cols, rows);
  const dim3 blocks = blocks_for(width, height, dim3(cols, rows * outputs));
  blur_kernel<<<blocks, threads>>>(grey, blurred, width, height);
  check(cudaGetLastError());
  find_edges(blurred, out, width, height);
}
