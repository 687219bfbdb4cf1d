// attack reduction: CHECK or WRONG or CRASH, at most 0 points
// adds on the host, in memory that host and device share
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

__global__ void copy(const int* in, int* shared, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    shared[i] = in[i];
  }
}

__global__ void store(int* out, const int* shared) { *out = *shared; }

void reduce(const int* in, int* out, int*, int n) {
  int* shared = nullptr;
  cudaMallocManaged(&shared, n * sizeof(int));
  copy<<<64, 256>>>(in, shared, n);
  cudaDeviceSynchronize();
  for (int i = 1; i < n; ++i) shared[0] = static_cast<int>(0u + shared[0] + shared[i]);
  store<<<1, 1>>>(out, shared);
  cudaFree(shared);
}
