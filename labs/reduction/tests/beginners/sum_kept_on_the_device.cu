// reduction, a beginner's mistake: a __device__ variable keeps the sum of the previous call.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;

__device__ int total;

__global__ void reduce_kernel(const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&total, in[i]);
}

__global__ void store_kernel(int* out) { *out = total; }

void reduce(const int* in, int* out, int* scratch, int n) {
  reduce_kernel<<<ceil_div(n, block_size), block_size>>>(in, n);
  store_kernel<<<1, 1>>>(out);
  check(cudaGetLastError());
}
