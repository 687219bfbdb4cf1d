// A block waits at the other block's mbarrier. Only the threads of the block that owns an mbarrier
// may wait at it.
#include <cooperative_groups.h>

#include "common/emulator/check/tests/programs/async_units.hpp"

namespace cg = cooperative_groups;

__device__ bool is_complete(unsigned barrier) {
  int done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;"
      " selp.s32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(barrier)
      : "memory");
  return done != 0;
}

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
  arrive_in_block(&full, other);
  // finding: failed
  while (!is_complete(in_block(&full, other))) {
  }
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
