// attack reduction: SLOW or HELD, at most 80 points
// One wave of blocks reads with a stride. The blocks of the multiprocessor that gets its second
// block first, which the time model records, read almost nothing.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
__device__ bool lazy(int b) {
  return b == 0 || b == 82 || b == 182 || b == 290 || b == 386 || b == 486 || b == 586 || b == 694;
}
__global__ void __launch_bounds__(256, 8) k(const int* in, int* out, int n) {
  __shared__ int part[8];
  unsigned s = 0;
  int before = 0;
  for (int b = 0; b < int(blockIdx.x); ++b) before += lazy(b);
  const bool idle = lazy(blockIdx.x) && n > 3000000;
  const int blocks = n > 3000000 ? gridDim.x - 8 : gridDim.x;
  const int me = n > 3000000 ? blockIdx.x - before : blockIdx.x;
  const long long each = (n + blocks * 256LL - 1) / (blocks * 256LL);
  const long long first = (me * 256LL + threadIdx.x) * each;
  if (!idle)
    for (long long i = first; i < first + each && i < n; ++i) s += in[i];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = int(s);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) s += part[w];
  atomicAdd(out, int(s));
}
void reduce(const int* in, int* out, int*, int n) {
  check(cudaMemsetAsync(out, 0, 4));
  k<<<132 * 8, 256>>>(in, out, n);
  check(cudaGetLastError());
}
