// honest reduction: PASS or SLOW, at least 75 points
// Two fills of one word, as in many reductions. They cost as much as their launches.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
__global__ void sum(const int4* in, int* out, int n) {
  __shared__ int part[8];
  unsigned s = 0;
  const long long t = blockIdx.x * 256LL + threadIdx.x;
  for (long long i = t; i < n / 4; i += gridDim.x * 256LL) {
    const int4 v = in[i];
    s += v.x + v.y + v.z + v.w;
  }
  if (t < n % 4) s += reinterpret_cast<const int*>(in)[n / 4 * 4 + t];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = int(s);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) s += part[w];
  atomicAdd(out, int(s));
}
void reduce(const int* in, int* out, int* scratch, int n) {
  check(cudaMemsetAsync(out, 0, 4));
  check(cudaMemsetAsync(scratch, 0, 4));
  sum<<<1056, 256>>>(reinterpret_cast<const int4*>(in), out, n);
  check(cudaGetLastError());
}
