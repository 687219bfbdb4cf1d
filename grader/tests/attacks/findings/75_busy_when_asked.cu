// attack reduction: CHECK or MEMORY or TIMEOUT or CRASH or PROTOCOL, at most 30 points
// has a race, and keeps the device busy with an endless kernel when the findings are requested
#include <algorithm>
#include <cstdlib>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

__global__ void never_ends(volatile int* word) {
  while (*word == *word) *word = *word + 1;
}

// Thread 0 of every block adds to the output without an atomic: a race.
__global__ void add_up(const int* in, int* out, int n) {
  __shared__ int part[256];
  unsigned sum = 0;
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) sum += in[i];
  part[threadIdx.x] = static_cast<int>(sum);
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out += part[0];
}

void reduce(const int* in, int* out, int*, int n) {
  static const int at_end = std::atexit([] {
    int* word = nullptr;
    cudaMalloc(&word, sizeof *word);
    never_ends<<<1, 1>>>(word);
  });
  (void)at_end;
  check(cudaMemsetAsync(out, 0, sizeof *out));
  add_up<<<std::min((n + 255) / 256, 1056), 256>>>(in, out, n);
  check(cudaGetLastError());
}
