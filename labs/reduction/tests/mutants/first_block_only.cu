// reduction mutant: forgets that the sums of the blocks must be added up, too.
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
  if (tid == 0) out[blockIdx.x] = partial[0];
}

void reduce(const int* in, int* out, int* scratch, int n) {
  const int sums = ceil_div(n, block_size);
  int* to = sums == 1 ? out : scratch;
  reduce_kernel<<<sums, block_size>>>(in, to, n);
  if (sums > 1) cudaMemcpy(out, scratch, sizeof(int), cudaMemcpyDeviceToDevice);
}
