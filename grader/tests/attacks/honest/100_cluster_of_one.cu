// honest reduction: PASS or SLOW, at least 40 points
// A cluster of one block is a block, whether the kernel or the launch asks for it.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

__device__ void sum_part(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void __cluster_dims__(1, 1, 1) sum_first(const int* in, int* out, int n) {
  sum_part(in, out, n);
}
__global__ void sum_second(const int* in, int* out, int n) { sum_part(in, out, n); }

void reduce(const int* in, int* out, int*, int n) {
  check(cudaMemsetAsync(out, 0, 4));
  sum_first<<<1056, 256>>>(in, out, n / 2);
  check(cudaGetLastError());
  cudaLaunchAttribute alone{};
  alone.id = cudaLaunchAttributeClusterDimension;
  alone.val.clusterDim = {1, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = 1056;
  config.blockDim = 256;
  config.attrs = &alone;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, sum_second, in + n / 2, out, n - n / 2));
}
