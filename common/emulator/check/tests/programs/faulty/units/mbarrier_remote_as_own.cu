// The thread arrives at the other block's mbarrier with .shared::cta. This state space contains
// only the shared memory of the thread's own block.
#include <cooperative_groups.h>

#include "common/emulator/check/tests/programs/async_units.hpp"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int box[32];
  __shared__ mbarrier full;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), other = rank ^ 1;
  if (threadIdx.x == 0) {
    init_barrier(&full, 32);
    fence_barrier_init();
  }
  cluster.sync();
  cluster.map_shared_rank(box, other)[threadIdx.x] = rank;
  // finding: failed
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(in_block(&full, other)) : "memory");
  wait_for_phase(&full, 0);
  out[blockIdx.x * 32 + threadIdx.x] = box[threadIdx.x];
  cluster.sync();
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  exchange<<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
