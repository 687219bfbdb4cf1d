// Block 0 waits for a flag that block 1 sets only after the cluster's barrier.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) wait_first(int* x) {
  __shared__ int flag;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) flag = 0;
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0)
    while (atomicAdd(&flag, 0) == 0) {  // finding: endless poll object=flag
    }
  cluster.sync();  // finding: endless wait
  if (cluster.block_rank() == 1 && threadIdx.x == 0)
    atomicExch(cluster.map_shared_rank(&flag, 0), 1);
  cluster.sync();
  x[blockIdx.x * 32 + threadIdx.x] = flag;
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  wait_first<<<2, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
