// launch 03_ilp: four elements per thread: eight loads in flight before the first addition.
//
// idea    Loads that do not depend on each other are in flight together. A thread issues all its
//         loads, then waits once; its index is computed once, too. The elements of a thread are a
//         block apart: lanes still add neighbours, and requests stay coalesced.
// watch   On an H200 this is as fast as memory allows, as it is with blocks of 128 to 1024 threads.
//         What is left is instructions: each load and store moves 4 bytes per lane.
// needs   nothing: what lies beyond n is neither read nor written. `items` is a constant, so that
//         the loops vanish and a and b are registers.
// source  The same lecture, "Instruction-level parallelism"; V. Volkov, "Better Performance at
//         Lower Occupancy" (2010).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;  // of a block: 8 of them fill a multiprocessor
constexpr int items = 4;      // elements that a thread loads before it adds the first; try 1, 2, 8

// z[i] = x[i] + y[i]
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int first = blockIdx.x * (threads * items) + threadIdx.x;
  //> todo: load the elements first, first + threads, ... of x and y; then add and store them.
  float a[items], b[items];
  for (int k = 0; k < items; ++k) {
    const int i = first + k * threads;
    if (i < n) a[k] = x[i], b[k] = y[i];
  }
  for (int k = 0; k < items; ++k) {
    const int i = first + k * threads;
    if (i < n) z[i] = a[k] + b[k];
  }
  //<
}

// Launches so many blocks that every element has a thread.
void add(const float* x, const float* y, float* z, int n) {
  const int blocks = ceil_div(n, threads * items);
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  check(cudaGetLastError());
}
