// launch 04_grid_stride: as many blocks as fit, each of which strides over the array.
//
// idea    The runtime reports how many blocks of this kernel the GPU holds at once. Launch that
//         many blocks, and let each block repeat its work one grid further on until it reaches n.
//         Then a grid of any size handles any n, and a block's one-time work serves many elements.
//         That pays where blocks keep a result, like the sum in reduction. Here they keep nothing.
// watch   A grid with fewer blocks than fit is faster (experiments/grid_stride.cu). The partly
//         empty last round explains little of the difference.
// gain    None: on an H200, many rounds are slower than 03_ilp. Warps that always have loads in
//         flight request more at a time than memory can use.
// needs   Indices that fit in an int: n plus a grid's elements must stay below 2^31.
// source  M. Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops" (2013).
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;  // per block; 8 such blocks fill a multiprocessor
constexpr int items = 4;      // elements that a thread loads before it adds the first; try 1, 2, 8

// z[i] = x[i] + y[i], for any grid
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  int first = blockIdx.x * (threads * items) + threadIdx.x;
  //> todo: do the work of 03_ilp for this `first`, then for the `first` one grid further on, ...
  for (; first < n; first += gridDim.x * (threads * items)) {
    float a[items], b[items];
    for (int k = 0; k < items; ++k) {
      const int i = first + k * threads;
      if (i < n) {
        a[k] = x[i];
        b[k] = y[i];
      }
    }
    for (int k = 0; k < items; ++k) {
      const int i = first + k * threads;
      if (i < n) z[i] = a[k] + b[k];
    }
  }
  //<
}

// The number of blocks of the kernel that the GPU holds at a time.
int resident_blocks() {
  int multiprocessors = 0, blocks = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_kernel, threads, 0));
  return multiprocessors * blocks;
}

void add(const float* x, const float* y, float* z, int n) {
  const int blocks = std::min(ceil_div(n, threads * items), resident_blocks());
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  check(cudaGetLastError());
}
