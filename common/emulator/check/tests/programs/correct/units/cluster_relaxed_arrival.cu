// fence.mbarrier_init makes the initialised mbarriers visible to the other block, so a relaxed
// arrival at the cluster's barrier is enough.
#include <cooperative_groups.h>

#include "common/emulator/check/tests/programs/async_units.hpp"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) load(const int* in, int* out) {
  __shared__ alignas(16) int tile[32];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    arrive_and_expect(&full, sizeof tile);
    if (cg::this_cluster().block_rank() == 0) load_bytes_to_all(tile, in, sizeof tile, &full, 3);
  }
  wait_for_phase(&full, 0);
  out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
  cg::this_cluster().sync();
}

int main() {
  int* const in = make_array<int>(32, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  load<<<2, 32>>>(in, out);
  const bool right = holds(out, 64, [](int i) { return i % 32; });
  cudaFree(in);
  cudaFree(out);
  return right ? 0 : 1;
}
