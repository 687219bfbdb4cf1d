// launch 01_tiny_blocks: one thread per element, blocks of one warp.
//
// idea    The elements are independent, so each gets a thread. The lanes of a warp add neighbours,
//         so each load or store of a warp is one request for 128 consecutive bytes: 4 sectors, all
//         of them used. That is ideal, and it stays so in all steps.
// watch   A multiprocessor holds 64 warps but only 32 blocks, so half of its warp slots are empty.
//         That is not the limit here. A block does almost nothing, and the GPU cannot start blocks
//         as fast as they end. Without any memory access, the kernel takes just as long (limits/).
// needs   nothing: threads beyond n do nothing.
// source  "Optimisation of CUDA programs", lecture 7 (in Russian), "Block sizes"; CUDA C++
//         Programming Guide, "Compute Capabilities", for the limits: compute capability 9.0.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 32;  // per block: a single warp

// z[i] = x[i] + y[i]
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  //> todo: if element i exists, add it.
  if (i < n) z[i] = x[i] + y[i];
  //<
}

// Launches enough blocks to give every element a thread.
void add(const float* x, const float* y, float* z, int n) {
  const int blocks = ceil_div(n, threads);
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  check(cudaGetLastError());
}
