// launch 05_vector: loads and stores of 16 bytes.
//
// idea    One instruction moves a float4, which holds four neighbours. The same bytes take a
//         quarter of the loads and stores, fewer indices and tests, and 16 sectors per request. As
//         in 03_ilp, a thread has 32 bytes in flight: now one float4 of x and one of y.
// gain    None: on an H200 it is as fast as 03_ilp. Memory is the limit, and nothing was waiting
//         for the instructions that are saved.
// watch   Fewer instructions pay only where something waits for them.
// needs   x, y and z aligned to 16 bytes: cudaMalloc aligns to 256, and the contract says so. A
//         pointer into an array, like x + 1, is not. The last n % 4 elements are added one by one.
// source  CUDA C++ Programming Guide, "Device Memory Accesses"; J. Luitjens, "CUDA Pro Tip:
//         Increase Performance with Vectorized Memory Access" (NVIDIA, 2013).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;  // per block; 8 such blocks fill a multiprocessor

__device__ float4 sum(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// z[i] = x[i] + y[i]
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  int i = 4 * (blockIdx.x * threads + threadIdx.x);
  //> todo: add elements i to i + 3 as a float4, or one by one if n ends among them.
  if (i + 3 < n) {
    const float4 a = *reinterpret_cast<const float4*>(&x[i]);
    const float4 b = *reinterpret_cast<const float4*>(&y[i]);
    *reinterpret_cast<float4*>(&z[i]) = sum(a, b);
  } else {
    for (; i < n; ++i) z[i] = x[i] + y[i];
  }
  //<
}

// Launches enough blocks to give every element a thread.
void add(const float* x, const float* y, float* z, int n) {
  const int blocks = ceil_div(n, 4 * threads);
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  check(cudaGetLastError());
}
