// reduction, a beginner's mistake: both copies of the result name the opposite direction.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;

__global__ void reduce_kernel(const int* in, int* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, in[i]);
}

void reduce(const int* in, int* out, int* scratch, int n) {
  int sum = 0;
  check(cudaMemset(scratch, 0, sizeof(int)));
  reduce_kernel<<<ceil_div(n, block_size), block_size>>>(in, scratch, n);
  check(cudaMemcpy(&sum, scratch, sizeof(int), cudaMemcpyHostToDevice));
  check(cudaMemcpy(out, &sum, sizeof(int), cudaMemcpyDeviceToHost));
}
