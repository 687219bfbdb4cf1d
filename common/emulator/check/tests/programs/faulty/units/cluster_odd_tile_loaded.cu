// The grid for three tiles has four blocks, because each cluster has two. The last block loads a
// fourth tile.
#include <cooperative_groups.h>

#include "common/emulator/check/tests/programs/async_units.hpp"

namespace cg = cooperative_groups;

constexpr int tiles = 3, tile_elements = 32;

__global__ void __cluster_dims__(2, 1, 1) copy(const int* in, int* out) {
  __shared__ alignas(16) int tile[tile_elements];
  __shared__ mbarrier full;
  if (threadIdx.x == 0) {
    init_barrier(&full, 1);
    fence_barrier_init();
    arrive_and_expect(&full, sizeof tile);
    // finding: out_of_bounds reads|copies bytes=384 offset=384
    load_bytes(tile, in + blockIdx.x * tile_elements, sizeof tile, &full);
  }
  cg::this_cluster().sync();
  wait_for_phase(&full, 0);
  if (blockIdx.x < tiles) out[blockIdx.x * tile_elements + threadIdx.x] = tile[threadIdx.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, tiles * tile_elements * sizeof(int));  // finding: allocated
  cudaMemset(in, 0, tiles * tile_elements * sizeof(int));
  cudaMalloc(&out, tiles * tile_elements * sizeof(int));
  copy<<<(tiles + 1) / 2 * 2, tile_elements>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
