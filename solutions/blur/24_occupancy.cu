// blur 24_occupancy: blocks of 32 x 4: more warps per block slot.
//
// idea    On the original's GPU a multiprocessor held 16 blocks. With two warps each, they filled
//         half of its warp slots. Four warps per block fill all of them.
// gain    None on a GPU that holds 32 blocks, as an H200 does: count before you try.
// watch   Registers may be the next limit. How many does a thread need, and how many are there?
// needs   nothing: pixels beyond the edge count as 0.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 20.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

//> todo: set cols and rows for a block of four warps, each with 32 pixels of a row.
constexpr int cols = 32, rows = 4;  // per block; each row is a warp
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
  //> todo: launch blur_kernel in blocks of that shape.
  const dim3 threads(cols, rows);
  blur_kernel<<<blocks_for(width, height, threads), threads>>>(grey, blurred, width, height);
  check(cudaGetLastError());
  //<
  find_edges(blurred, out, width, height);
}
