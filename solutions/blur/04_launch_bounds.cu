// blur 04_launch_bounds: the compiler is told how many blocks are to fit.
//
// idea    Registers are divided among the threads that a multiprocessor holds. __launch_bounds__
//         names the largest block and how many of them shall fit; the compiler then keeps to as
//         many registers as that leaves, and computes again, or moves out to local memory, what it
//         has no register for. `./lab ptx` lists registers and spills: see whether it had a choice.
// gain    None: the kernel needs fewer registers than that anyway.
// watch   49 loads for each pixel. More warps only mean more of them.
// needs   nothing: pixels beyond the edge count as 0.
// source  C. Angerer, J. Progsch, "CUDA Optimization with NVIDIA Nsight" (GTC 2016), step 30.
#include "common/lab/check.hpp"
#include "labs/blur/blur.hpp"
#include "labs/blur/stages.hpp"

constexpr int cols = 32, rows = 4;  // of a block

// A thread's pixel of: blurred = grey, blurred
__device__ inline void blur_pixel(const unsigned char* grey, unsigned char* blurred, int width,
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

//> todo: blur_kernel: blur_pixel for blocks of cols * rows threads, of which 64 warps are to fit.
__global__ void __launch_bounds__(cols* rows, 16)  // 16 blocks: 64 warps, 32 registers each thread
    blur_kernel(const unsigned char* grey, unsigned char* blurred, int width, int height) {
  blur_pixel(grey, blurred, width, height);
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
