// Block 0 ends without waiting for the reads of its memory. Here they happen to come earlier.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) read_first(int* x) {
  __shared__ int line[32];
  const cg::cluster_group cluster = cg::this_cluster();
  line[threadIdx.x] = threadIdx.x;
  cluster.sync();
  if (cluster.block_rank() == 0) return;
  // finding: race reads object=line says=a_block_exits
  x[threadIdx.x] = cluster.map_shared_rank(line, 0)[threadIdx.x];
}  // finding: race exits

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  read_first<<<2, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
