// Block 0 exits without waiting, so block 1 may arrive at the mbarrier of an exited block.
#include <cooperative_groups.h>

#include "common/emulator/check/tests/programs/async_units.hpp"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ mbarrier full;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    init_barrier(&full, 32);
    fence_barrier_init();
  }
  cluster.sync();
  if (rank == 0) return;
  arrive_in_block(&full, 0);  // finding: race any object=full says=a_block_exits
  out[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
}  // finding: race exits

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  exchange<<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
