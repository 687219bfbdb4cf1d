// launch 03_ilp: four elements per thread: eight loads in flight before the first addition.
//
// idea    Loads that do not depend on each other are in flight together. A thread issues all its
//         loads, then waits once. It computes its index once, too. A thread's elements are one
//         block size apart, so lanes still add neighbours, and requests stay coalesced.
// watch   On an H200 this is as fast as memory allows, with any block size from 128 to 1024. Only
//         the instructions can still be reduced: each load and store moves 4 bytes per lane.
// needs   nothing: elements beyond n are neither read nor written. `items` is a constant, so the
//         compiler unrolls the loops and keeps a and b in registers.
// source  The same lecture, "Instruction-level parallelism"; V. Volkov, "Better Performance at
//         Lower Occupancy" (2010).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int threads = 256;  // per block; 8 such blocks fill a multiprocessor
constexpr int items = 4;      // elements that a thread loads before it adds the first; try 1, 2, 8

// z[i] = x[i] + y[i]
__global__ void add_kernel(const float* x, const float* y, float* z, int n) {
  const int first = blockIdx.x * (threads * items) + threadIdx.x;
  //> todo: load the elements first, first + threads, ... of x and y; then add and store them.
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
  //<
}

// Launches enough blocks to give every element a thread.
void add(const float* x, const float* y, float* z, int n) {
  const int blocks = ceil_div(n, threads * items);
  add_kernel<<<blocks, threads>>>(x, y, z, n);
  check(cudaGetLastError());
}
