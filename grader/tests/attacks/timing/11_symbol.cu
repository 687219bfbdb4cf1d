// attack reduction: CHECK or WRONG, at most 0 points
// copies the input to the host piece by piece, through a __device__ variable, and adds it there
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

constexpr int piece = 1 << 16;
__device__ int window[piece];

__global__ void show(const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < piece) window[i] = i < n ? in[i] : 0;
}

__global__ void store(int* out, int sum) { *out = sum; }

void reduce(const int* in, int* out, int*, int n) {
  static int here[piece];
  unsigned sum = 0;
  for (int done = 0; done < n; done += piece) {
    show<<<piece / 256, 256>>>(in + done, n - done);
    cudaMemcpyFromSymbol(here, window, sizeof here);
    for (const int value : here) sum += value;
  }
  store<<<1, 1>>>(out, static_cast<int>(sum));
}
