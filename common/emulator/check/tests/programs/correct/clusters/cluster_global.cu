// The cluster's barrier also orders accesses to global memory, between blocks and within one.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* x, int* y) {
  const cg::cluster_group cluster = cg::this_cluster();
  x[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
  cluster.sync();
  y[blockIdx.x * 64 + threadIdx.x] =
      x[(blockIdx.x ^ 1) * 64 + 63 - threadIdx.x] + x[blockIdx.x * 64 + (threadIdx.x + 40) % 64];
}

// A cluster of one block: its barrier is a barrier of the block.
__global__ void __cluster_dims__(1, 1, 1) reverse(int* x) {
  __shared__ int line[64];
  line[threadIdx.x] = threadIdx.x;
  cg::this_cluster().sync();
  x[blockIdx.x * 64 + threadIdx.x] = line[63 - threadIdx.x];
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 4 * 64 * sizeof(int));
  cudaMalloc(&y, 4 * 64 * sizeof(int));
  exchange<<<4, 64>>>(x, y);
  reverse<<<4, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
