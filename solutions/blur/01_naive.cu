// blur 01_naive: one thread per pixel, blocks of 8 x 8.
//
// idea    The sum of every pixel is independent. Each pixel gets a thread, which reads 49 bytes.
//         The grey and the edge stage (stages.hpp) have one thread per pixel as well.
// watch   A warp covers four rows of 8 pixels. Each of its 49 loads touches four lines and uses 8
//         of the 32 bytes in each sector.
// needs   nothing: pixels beyond the edge count as 0.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 00.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 8, rows = 8;  // per block

// blurred = the blurred grey picture
__global__ void blur_kernel(const unsigned char* grey, unsigned char* blurred, int width,
                            int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0;
  for (int j = 0; j < 7; ++j) {
    //> todo: add row j of the 7 x 7 pixels around x, y, each times its weight.
    for (int i = 0; i < 7; ++i)
      sum += weight[j] * weight[i] * pixel(grey, x + i - 3, y + j - 3, width, height);
    //<
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
