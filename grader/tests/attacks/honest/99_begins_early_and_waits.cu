// honest reduction: PASS or SLOW, at least 60 points
// The second kernel may begin early. It prepares its shared memory, and waits before it reads the
// sums that the first kernel stored.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
__global__ void __launch_bounds__(256) sum_up(const int* in, int* out, int n) {
  __shared__ int sums[32];
  if (threadIdx.x < 32) sums[threadIdx.x] = 0;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  int sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  sum = __reduce_add_sync(~0u, sum);
  __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = __reduce_add_sync(~0u, sums[threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
void reduce(const int* in, int* out, int* scratch, int n) {
  const int blocks = std::min(1056, ceil_div(n, 1024));
  sum_up<<<blocks, 256>>>(in, scratch, n);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = 1;
  how.blockDim = 256;
  how.attrs = &early;
  how.numAttrs = 1;
  check(cudaLaunchKernelEx(&how, sum_up, static_cast<const int*>(scratch), out, blocks));
}
