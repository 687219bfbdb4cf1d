// Block 0 copies a tile to both blocks of its cluster, and each block expects the bytes at its own
// mbarrier. No block exits before both have received the tile.
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
    arrive_and_expect(&full, sizeof tile);
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0)
    load_bytes_to_all(tile, in, sizeof tile, &full, 3);
  wait_for_phase(&full, 0);
  out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
  cluster.sync();
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
