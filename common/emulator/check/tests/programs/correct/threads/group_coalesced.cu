// The threads in a branch form a group, with one atomic for all and data in shared memory.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void select(const int* x, int* out, int* count) {
  __shared__ int line[64];
  const int i = threadIdx.x;
  line[i] = i;
  __syncthreads();
  if (x[i] > 0) {
    const auto active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(count, active.size());
    first = active.shfl(first, 0);
    line[i] = x[i];
    active.sync();
    out[first + active.thread_rank()] = line[i];
  }
}

int main() {
  int host[64], *x, *out, *count, n = 0;
  for (int i = 0; i < 64; ++i) host[i] = i % 3 == 0 ? i : -1;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&count, sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  select<<<1, 64>>>(x, out, count);
  cudaMemcpy(&n, count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  cudaFree(count);
  return n == 21 ? 0 : 1;
}
