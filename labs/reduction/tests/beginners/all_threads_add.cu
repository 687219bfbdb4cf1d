// reduction, a beginner's mistake: all threads add to one element without atomics.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;

__global__ void reduce_kernel(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *out += in[i];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  check(cudaMemset(out, 0, sizeof(int)));
  reduce_kernel<<<ceil_div(n, block_size), block_size>>>(in, out, n);
  check(cudaGetLastError());
}
