// Reads the other block's line before that block is known to have written it.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* x) {
  __shared__ int line[64];
  const cg::cluster_group cluster = cg::this_cluster();
  line[threadIdx.x] = threadIdx.x;  // finding: race writes object=line says=cluster.sync()
  __syncthreads();
  const int* const other = cluster.map_shared_rank(line, cluster.block_rank() ^ 1);
  // finding: race reads
  x[blockIdx.x * 64 + threadIdx.x] = other[63 - threadIdx.x];
  cluster.sync();
}

int main() {
  int* x;
  cudaMalloc(&x, 2 * 64 * sizeof(int));
  exchange<<<2, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
