// blur 02_coalesced: blocks of 32 x 2: a warp covers 32 pixels of one row.
//
// idea    The lanes of a warp are now 32 neighbours in a row, so a load touches 32 consecutive
//         bytes, one or two sectors. The original's other version, blocks of 8 x 16, has more
//         warps, but each warp still covers four rows, so the problem remains.
// watch   A block is two warps, and a multiprocessor holds 32 blocks: just enough to fill all warp
//         slots. A pixel still takes 49 loads, of bytes that its neighbours load as well.
// needs   nothing: pixels beyond the edge count as 0.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), steps 1a, 1b.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

//> todo: set cols and rows for a block of two warps, each with 32 pixels of a row.
constexpr int cols = 32, rows = 2;  // per block; each row is a warp
//<

// blurred = the blurred grey picture
__global__ void blur_kernel(const unsigned char* grey, unsigned char* blurred, int width,
                            int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int j = 0; j < 7; ++j) {
    for (int i = 0; i < 7; ++i)
      sum += weight[j] * weight[i] * pixel(grey, x + i - 3, y + j - 3, width, height);
  }
  blurred[y * width + x] = static_cast<unsigned char>(sum >> 8);
}

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  unsigned char* const blurred = scratch + picture_bytes(width, height);
  make_grey(rgba, grey, width, height);
  //> todo: blur the grey picture in blocks of that shape.
  const dim3 threads(cols, rows);
  blur_kernel<<<blocks_for(width, height, threads), threads>>>(grey, blurred, width, height);
  check(cudaGetLastError());
  //<
  find_edges(blurred, out, width, height);
}
