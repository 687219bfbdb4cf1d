// attack reduction: CHECK, at most 30 points
// leaves out the barrier before the last sum, but only at the size that is timed
//
// Each thread's loop is the same at every size, so checks at other sizes find nothing. The emulator
// runs the warps of a block one after the other, so the last warp finds all sums even though it
// does not wait for them.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int threads = 256, timed = 16777216;

__global__ void sum(const int4* in, int* out, int n) {
  __shared__ int sums[threads / 32];
  const int first = blockIdx.x * threads + threadIdx.x;
  unsigned s = 0;
  for (int i = first; i < n / 4; i += gridDim.x * threads) {
    const int4 v = in[i];
    s += v.x + v.y + v.z + v.w;
  }
  if (first < n % 4) s += reinterpret_cast<const int*>(in)[n / 4 * 4 + first];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = s;
  if (n != timed) __syncthreads();
  if (threadIdx.x != threads - 32) return;
  for (int w = 0; w < threads / 32 - 1; ++w) s += sums[w];
  atomicAdd(out, s);
}

void reduce(const int* in, int* out, int*, int n) {
  check(cudaMemsetAsync(out, 0, sizeof *out));
  sum<<<1056, threads>>>(reinterpret_cast<const int4*>(in), out, n);
  check(cudaGetLastError());
}
