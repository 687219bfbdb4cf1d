// attack reduction: HELD, at most 40 points
// Like 53, but the launch asks for the cluster.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

__global__ void sum_all(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void reduce(const int* in, int* out, int*, int n) {
  check(cudaMemsetAsync(out, 0, 4));
  cudaLaunchAttribute pair{};
  pair.id = cudaLaunchAttributeClusterDimension;
  pair.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = 1056;
  config.blockDim = 256;
  config.attrs = &pair;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, sum_all, in, out, n));
}
