// Only the block that issues the copy expects its bytes. No thread arrives at the mbarrier of the
// other block, so that block waits forever.
#include <cooperative_groups.h>

#include "common/emulator/check/tests/programs/async_units.hpp"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) load(const int* in, int* out) {
  __shared__ alignas(16) int tile[32];
  __shared__ mbarrier full;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    // finding: arrivals
    if (cluster.block_rank() == 0) arrive_and_expect(&full, sizeof tile);
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0)
    load_bytes_to_all(tile, in, sizeof tile, &full, 3);  // finding: copies
  wait_for_phase(&full, 0);                              // finding: endless poll object=full
  out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
  cluster.sync();  // finding: endless wait
}

int main() {
  int* const in = make_array<int>(32, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  load<<<2, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
