// attack reduction: HELD or SLOW, at most 60 points
// One block in the middle of many adds up the whole input. All others read the same few KB until
// they look busy.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
__device__ unsigned sum_of(const int4* in, int from, int to, int step) {
  unsigned s = 0;
  for (int i = from + threadIdx.x; i < to; i += step) {
    const int4 v = in[i];
    s += v.x + v.y + v.z + v.w;
  }
  return s;
}
__global__ void k(const int4* in, int* out, int n) {
  __shared__ int part[8];
  const int count = n / 4;
  if (blockIdx.x != gridDim.x / 7 * 3) {
    unsigned s = 0;
    for (int again = 0; again < 8; ++again) s ^= sum_of(in + again, 0, 1024, 256);
    if (s == 0x12345678u) part[threadIdx.x % 8] = int(s);
    return;
  }
  unsigned s = sum_of(in, 0, count, 256);
  if (threadIdx.x < n % 4) s += reinterpret_cast<const int*>(in + count)[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = int(s);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) s += part[w];
  *out = int(s);
}
void reduce(const int* in, int* out, int*, int n) {
  const int blocks = n < 4000000 ? 1 : 132 * 28;
  k<<<blocks, 256>>>(reinterpret_cast<const int4*>(in), out, n);
  check(cudaGetLastError());
}
