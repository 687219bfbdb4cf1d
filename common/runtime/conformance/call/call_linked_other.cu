// The second file of call_linked.
#include "common/runtime/conformance/call_linked.hpp"

static __device__ __noinline__ int own(int x) { return x + 100; }

__device__ int other_table[4] = {7, 70, 700, 7000};
__constant__ int other_factor = 1;
static __device__ int more(int x) { return x + 1000; }
__device__ transform other_pointer = more;

__device__ int twice(int x) { return own(2 * x); }
__device__ int shift(int x) { return x + 2000; }
__device__ void count_up() { atomicAdd(&counter, 1); }

__global__ void scale(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= other_factor;
}

void launch_other(int* values, int n) { scale<<<(n + 31) / 32, 32>>>(values, n); }
