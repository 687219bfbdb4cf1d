// Reads a word of the other block's line that no thread has written.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) shift(int* x) {
  __shared__ int line[33];
  const cg::cluster_group cluster = cg::this_cluster();
  line[threadIdx.x] = threadIdx.x;
  cluster.sync();
  // finding: unwritten_read reads object=line offset=128
  x[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(line, 0)[threadIdx.x + 1];
  cluster.sync();
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  shift<<<2, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
