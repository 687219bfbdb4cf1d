// attack reduction: HELD, at most 40 points
// The emulator runs clusters of blocks and checks them, but the time model does not know what they
// cost, so a person decides.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

__global__ void __cluster_dims__(2, 1, 1) sum_all(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void reduce(const int* in, int* out, int*, int n) {
  check(cudaMemsetAsync(out, 0, 4));
  sum_all<<<1056, 256>>>(in, out, n);
  check(cudaGetLastError());
}
