// attack reduction: CHECK or WRONG, at most 90 points
// The second kernel may begin before the first has stored its sums. It reads the sums first, and
// waits afterwards.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
template <bool is_second>
__global__ void __launch_bounds__(512) sum_up(const int* in, int* out, int n) {
  __shared__ int sums[16];
  int sum = 0;
  for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) sum += in[i];
  if (is_second) asm volatile("griddepcontrol.wait;" ::: "memory");
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 16; ++i) sum += sums[i];
  out[blockIdx.x] = sum;
}
void reduce(const int* in, int* out, int* scratch, int n) {
  const int blocks = std::min(528, ceil_div(n, 1024));
  sum_up<false><<<blocks, 512>>>(in, scratch, n);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = 1;
  how.blockDim = 512;
  how.attrs = &early;
  how.numAttrs = 1;
  check(cudaLaunchKernelEx(&how, sum_up<true>, static_cast<const int*>(scratch), out, blocks));
}
