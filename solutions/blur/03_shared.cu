// blur 03_shared: a block loads its pixels once, into shared memory.
//
// idea    The 128 pixels of a block, with a halo of three on each side, are 38 x 10 = 380 bytes,
//         but its threads read 128 * 49 = 6272. The threads therefore load the 380 bytes together,
//         up to three each, with zeros outside the picture. Then they read from shared memory,
//         where a byte does not cost a sector. Blocks are taller than in 02, so the halo is a
//         smaller share: 32 x 4 pixels need 2.97 bytes each, and 32 x 2 pixels would need 4.75.
// watch   A pixel still takes 49 reads of one byte, although reading a word would cost the same.
//         All threads must reach the barrier, even those outside the picture.
// needs   nothing: pixels beyond the edge count as 0.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 40.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4;                         // per block
constexpr int tile_cols = cols + 6, tile_rows = rows + 6;  // including the halo

// blurred = the blurred grey picture
__global__ void blur_kernel(const unsigned char* grey, unsigned char* blurred, int width,
                            int height) {
  __shared__ unsigned char tile[tile_rows][tile_cols];
  const int left = blockIdx.x * cols, top = blockIdx.y * rows;
  //> todo: load the pixels from left - 3, top - 3 on, all threads together; wait for the block.
  for (int t = threadIdx.y * cols + threadIdx.x; t < tile_rows * tile_cols; t += cols * rows) {
    const int i = t % tile_cols, j = t / tile_cols;
    tile[j][i] = pixel(grey, left + i - 3, top + j - 3, width, height);
  }
  __syncthreads();
  //<
  const int x = left + threadIdx.x, y = top + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int j = 0; j < 7; ++j) {
    for (int i = 0; i < 7; ++i)
      sum += weight[j] * weight[i] * tile[threadIdx.y + j][threadIdx.x + i];
  }
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
