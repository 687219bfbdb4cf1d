// blur 25_launch_bounds: limits the compiler to 32 registers, so that 64 warps fit.
//
// idea    The resident threads of a multiprocessor share its registers. __launch_bounds__ states
//         the largest block and how many blocks must fit. The compiler then limits the registers of
//         a thread accordingly. It recomputes values that do not fit, or spills them to local
//         memory. `./lab ptx` lists registers and spills: did the compiler give anything up?
// gain    None: the kernel needs fewer registers than the limit anyway.
// watch   A pixel still takes 49 loads. More warps only issue more loads at once.
// needs   nothing: pixels beyond the edge count as 0.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 30.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4;  // per block; each row is a warp

//> todo: write blur_kernel again, so that 64 warps fit, in blocks of cols * rows threads.
// blurred = the blurred grey picture
__global__ void __launch_bounds__(cols* rows, 16)  // 16 blocks: 64 warps, 32 registers per thread
    blur_kernel(const unsigned char* grey, unsigned char* blurred, int width, int height) {
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
//<

void edges(const uchar4* rgba, unsigned char* out, unsigned char* scratch, int width, int height) {
  unsigned char* const grey = scratch;
  unsigned char* const blurred = scratch + picture_bytes(width, height);
  make_grey(rgba, grey, width, height);
  //> todo: launch that kernel.
  const dim3 threads(cols, rows);
  blur_kernel<<<blocks_for(width, height, threads), threads>>>(grey, blurred, width, height);
  check(cudaGetLastError());
  //<
  find_edges(blurred, out, width, height);
}
