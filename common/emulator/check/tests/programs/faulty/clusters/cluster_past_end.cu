// The rank is taken modulo 4, but the cluster has two blocks.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) neighbour(int* x) {
  __shared__ int line[32];
  const cg::cluster_group cluster = cg::this_cluster();
  line[threadIdx.x] = threadIdx.x;
  cluster.sync();
  const int* const next = cluster.map_shared_rank(line, (cluster.block_rank() + 1) % 4);
  // finding: failed stopped says=which_has_only_2_blocks
  x[blockIdx.x * 32 + threadIdx.x] = next[threadIdx.x];
  cluster.sync();
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  neighbour<<<2, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
