// launch 05_vector: loads and stores of 16 bytes.
//
// idea    A float4 is four neighbours in one instruction: a quarter of the loads, stores and tests
//         for as many bytes, 16 sectors per request. Two of x and two of y are 64 bytes in flight
//         per thread; four of each would be twice as many, and take 48 registers: 40 warps then
//         fit where 64 did (CUDA 13.0).
// watch   Nothing in the kernel: what is left is the way to memory, and rounds that do not come
//         out even.
// needs   x, y and z aligned to 16 bytes: cudaMalloc aligns to 256, and the contract says so. A
//         pointer into an array, x + 1 say, is not. The last n % 4 elements are added one by one.
// source  CUDA C++ Programming Guide, "Device Memory Accesses"; J. Luitjens, "CUDA Pro Tip:
//         Increase Performance with Vectorized Memory Access" (NVIDIA, 2013).
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;  // of a block: 8 of them fill a multiprocessor
constexpr int items = 2;      // float4s that a thread loads before it adds the first

__device__ float4 sum(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// z[i] = x[i] + y[i], for any grid
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const float4 *x4 = (const float4*)x, *y4 = (const float4*)y;
  float4* z4 = (float4*)z;
  const int count = n / 4;  // whole float4s
  int first = blockIdx.x * (threads * items) + threadIdx.x;
  //> todo: do the same with x4, y4, z4 and count; then add what is no whole float4.
  for (; first < count; first += gridDim.x * (threads * items)) {
    float4 a[items], b[items];
    for (int k = 0; k < items; ++k) {
      const int i = first + k * threads;
      if (i < count) a[k] = x4[i], b[k] = y4[i];
    }
    for (int k = 0; k < items; ++k) {
      const int i = first + k * threads;
      if (i < count) z4[i] = sum(a[k], b[k]);
    }
  }
  const int last = n - 1 - threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x < n % 4) z[last] = x[last] + y[last];
  //<
}

// How many blocks of the kernel the GPU holds at a time.
int resident_blocks() {
  int multiprocessors = 0, blocks = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_kernel, threads, 0));
  return multiprocessors * blocks;
}

void add(const float* x, const float* y, float* z, int n) {
  const int blocks = std::min(ceil_div(n, 4 * threads * items), resident_blocks());
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  check(cudaGetLastError());
}
