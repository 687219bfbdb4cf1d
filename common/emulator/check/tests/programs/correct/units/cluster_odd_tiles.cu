// Clusters of two blocks load three tiles. The last block has no tile, but still takes part in the
// cluster's barrier.
#include <cooperative_groups.h>

#include "common/emulator/check/tests/programs/async_units.hpp"

namespace cg = cooperative_groups;

constexpr int tiles = 3, tile_elements = 32;

__global__ void __cluster_dims__(2, 1, 1) copy(const int* in, int* out) {
  __shared__ alignas(16) int tile[tile_elements];
  __shared__ mbarrier full;
  const bool has_tile = blockIdx.x < tiles;
  if (has_tile && threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof tile);
    load_bytes(tile, in + blockIdx.x * tile_elements, sizeof tile, &full);
  }
  cg::this_cluster().sync();
  if (!has_tile) return;
  wait_for_phase(&full, 0);
  out[blockIdx.x * tile_elements + threadIdx.x] = tile[threadIdx.x];
}

int main() {
  int* const in = make_array<int>(tiles * tile_elements, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, tiles * tile_elements * sizeof(int));
  copy<<<(tiles + 1) / 2 * 2, tile_elements>>>(in, out);
  const bool right = holds(out, tiles * tile_elements, [](int i) { return i; });
  cudaFree(in);
  cudaFree(out);
  return right ? 0 : 1;
}
