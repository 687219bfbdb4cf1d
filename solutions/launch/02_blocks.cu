// launch 02_blocks: blocks of 256 threads: fewer to start, and every warp slot is filled.
//
// idea    One block starts for every 256 elements instead of every 32, so block starts are no
//         longer the limit. A multiprocessor admits blocks until threads (2048), blocks (32),
//         registers (65536) or shared memory (228 KB) run out: here 8 blocks are 2048 threads.
//         Blocks of 64, 128, 512 and 1024 threads fill it too; blocks of 768 leave a quarter empty.
// watch   A thread computes its index, waits for two loads, adds once, stores once, and ends; a new
//         block starts only when all threads of an old one have ended.
// needs   nothing: threads beyond n do nothing.
// source  The same lecture, "Recommendations": begin with 128 to 256 threads, a multiple of 32.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

//> todo: choose a block size that fills a multiprocessor's 2048 threads; write add_kernel for it.
constexpr int threads = 256;  // per block; 8 such blocks fill a multiprocessor

// z[i] = x[i] + y[i]
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}
//<

// Launches enough blocks to give every element a thread.
void add(const float* x, const float* y, float* z, int n) {
  //> todo: launch add_kernel in blocks of that size.
  const int blocks = ceil_div(n, threads);
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  //<
  check(cudaGetLastError());
}
