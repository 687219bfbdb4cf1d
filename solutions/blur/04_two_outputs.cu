// blur 04_two_outputs: two adjacent pixels of a column per thread share 42 of 56 reads.
//
// idea    The 7 x 7 neighbourhoods of two adjacent pixels have 6 rows in common, so two sums take
//         56 reads instead of 98. The two sums are independent: while one multiply-add waits for
//         the previous one, the other can issue (instruction-level parallelism).
// watch   There are 98 integer multiply-adds, whose rate on an H200 is half that of float ones.
// needs   nothing: the second row may lie beyond the edge when the first does not.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 5a, whose
//         public version shifts the picture by a pixel.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4, outputs = 2;                      // per block; rows per thread
constexpr int tile_cols = cols + 6, tile_rows = rows * outputs + 6;  // including the halo

// blurred = the blurred grey picture
__global__ void blur_kernel(const unsigned char* grey, unsigned char* blurred, int width,
                            int height) {
  __shared__ unsigned char tile[tile_rows][tile_cols];
  const int left = blockIdx.x * cols, top = blockIdx.y * rows * outputs;
  for (int t = threadIdx.y * cols + threadIdx.x; t < tile_rows * tile_cols; t += cols * rows) {
    const int i = t % tile_cols, j = t / tile_cols;
    tile[j][i] = pixel(grey, left + i - 3, top + j - 3, width, height);
  }
  __syncthreads();
  const int first = threadIdx.y * outputs, x = left + threadIdx.x, y = top + first;
  int sum[outputs] = {};
#pragma unroll  // so that the elements of sum[] are registers
  for (int j = 0; j < 6 + outputs; ++j) {
    for (int i = 0; i < 7; ++i) {
      const int read = tile[first + j][threadIdx.x + i];
      //> todo: add `read` to the first row's sum, the second's, or both, with the right weights.
      for (int k = 0; k < outputs; ++k)
        if (j >= k && j < k + 7) sum[k] += weight[j - k] * weight[i] * read;
      //<
    }
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
