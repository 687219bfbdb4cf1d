// Ends without a last cluster.sync(), so the other block may read the memory of an exited block.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* x) {
  __shared__ int line[32];
  const cg::cluster_group cluster = cg::this_cluster();
  line[threadIdx.x] = threadIdx.x;
  cluster.sync();
  const int* const other = cluster.map_shared_rank(line, cluster.block_rank() ^ 1);
  // finding: race reads object=line says=a_block_exits
  x[blockIdx.x * 32 + threadIdx.x] = other[31 - threadIdx.x];
}  // finding: race exits

int main() {
  int* x;
  cudaMalloc(&x, 2 * 32 * sizeof(int));
  exchange<<<2, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
