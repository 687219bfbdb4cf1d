// honest reduction: PASS or SLOW, at least 70 points
// Each thread adds up a contiguous chunk. Chunks are rounded up, so the last blocks may be empty.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
__global__ void k(const int* in, int* out, int n) {
  __shared__ int part[8];
  const int threads = gridDim.x * blockDim.x, chunk = (n + threads - 1) / threads;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  unsigned s = 0;
  for (int i = first; i < first + chunk && i < n; ++i) s += in[i];
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
