// reduction mutant: adds every block's sum to *out, which was never set to 0. This is right only
// after a run that left 0 there, or after the grader's own cudaMemset.
#include "common/lab/ceil_div.hpp"
#include "labs/reduction/reduction.hpp"

constexpr int block_size = 256;

__global__ void reduce_kernel(const int* in, int* out, int n) {
  __shared__ int partial[block_size];
  const int tid = threadIdx.x;
  const int i = blockIdx.x * block_size + tid;
  partial[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int s = block_size / 2; s > 0; s /= 2) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(out, partial[0]);
}

void reduce(const int* in, int* out, int*, int n) {
  reduce_kernel<<<ceil_div(n, block_size), block_size>>>(in, out, n);
}
