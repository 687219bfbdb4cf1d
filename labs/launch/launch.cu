// Generated from solutions/launch/01_tiny_blocks.cu by lab start.
// launch 01_tiny_blocks: one thread per element, blocks of one warp.
//
// idea    The elements are independent, so each gets a thread. The lanes of a warp add neighbours,
//         so each load or store of a warp is one request for 128 consecutive bytes: 4 sectors, all
//         of them used. That is ideal, and it stays so in all steps.
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
  // TODO: if element i exists, add it.
}

// Launches enough blocks to give every element a thread.
void add(const float* x, const float* y, float* z, int n) {
  const int blocks = ceil_div(n, threads);
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  check(cudaGetLastError());
}
