// launch 02_blocks: blocks of 256 threads fill every place for a warp.
//
// idea    A multiprocessor admits blocks until one of four things runs out: threads (2048), blocks
//         (32), registers (65536) or shared memory (228 KB). With 8 warps per block, 8 blocks are
//         2048 threads: here threads run out first, and no place is left empty. 64, 128, 512 and
//         1024 threads per block fill a multiprocessor, too; 768 leave a quarter of it empty.
// watch   A thread computes where its element is, waits for two loads, adds once, stores once, and
//         ends; then a new block has to be started in its place.
// needs   nothing: threads beyond n do nothing.
// source  The same lecture, "Recommendations": begin with 128 to 256 threads, a multiple of 32.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;  // of a block: 8 of them fill a multiprocessor

// z[i] = x[i] + y[i]
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

// Launches so many blocks that every element has a thread.
void add(const float* x, const float* y, float* z, int n) {
  //> todo: how many blocks of so many threads? Launch them.
  const int blocks = ceil_div(n, threads);
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  //<
  check(cudaGetLastError());
}
