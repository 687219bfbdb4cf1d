// honest reduction: PASS or SLOW, at least 70 points
// Each warp takes pieces of the input by means of an atomic counter.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
__global__ void k(const int4* in, int* out, int* next, int n) {
  __shared__ int part[8];
  unsigned s = 0;
  const int lane = threadIdx.x % 32, pieces = (n / 4 + 511) / 512;
  for (;;) {
    int t = 0;
    if (lane == 0) t = atomicAdd(next, 1);
    t = __shfl_sync(~0u, t, 0);
    if (t >= pieces) break;
    for (int i = t * 512 + lane; i < t * 512 + 512 && i < n / 4; i += 32) {
      const int4 v = in[i];
      s += v.x + v.y + v.z + v.w;
    }
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4)
    s += reinterpret_cast<const int*>(in)[n / 4 * 4 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) part[threadIdx.x / 32] = int(s);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) s += part[w];
  atomicAdd(out, int(s));
}
void reduce(const int* in, int* out, int* scratch, int n) {
  check(cudaMemsetAsync(out, 0, 4));
  check(cudaMemsetAsync(scratch, 0, 4));
  k<<<132 * 8, 256>>>(reinterpret_cast<const int4*>(in), out, scratch, n);
  check(cudaGetLastError());
}
