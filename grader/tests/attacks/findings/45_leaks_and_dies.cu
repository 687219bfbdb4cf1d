// attack reduction: CHECK or SLOW, at most 90 points
// never frees its memory, and kills itself before the checks can report leaks
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int4* in, int* out, int n) {
  __shared__ int part[8];
  const long long first = blockIdx.x * 256LL + threadIdx.x;
  unsigned sum = 0;
  for (long long i = first; i < n / 4; i += gridDim.x * 256LL) {
    const int4 four = in[i];
    sum += four.x + four.y + four.z + four.w;
  }
  if (first < n % 4) sum += reinterpret_cast<const int*>(in)[n / 4 * 4 + first];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = static_cast<int>(sum);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) sum += part[w];
  atomicAdd(out, static_cast<int>(sum));
}

void reduce(const int* in, int* out, int*, int n) {
  static const int at_end = std::atexit([] { raise(SIGKILL); });
  (void)at_end;
  int* kept = nullptr;
  check(cudaMalloc(&kept, 1000 * sizeof *kept));
  check(cudaMemsetAsync(out, 0, sizeof *out));
  add_up<<<1056, 256>>>(reinterpret_cast<const int4*>(in), out, n);
  check(cudaGetLastError());
}
