// Each block arrives at its own mbarrier, but block 0 waits for arrivals from both blocks.
#include <cooperative_groups.h>

#include "common/emulator/check/tests/programs/async_units.hpp"

namespace cg = cooperative_groups;

constexpr int rounds = 2;

__global__ void __cluster_dims__(2, 1, 1) sum_tiles(const int* in, int* out) {
  __shared__ alignas(16) int slot[32];
  __shared__ mbarrier full[rounds], empty;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    for (mbarrier& tile : full) init_barrier(&tile, 1);
    init_barrier(&empty, 2);
    fence_barrier_init();
    for (mbarrier& tile : full) arrive_and_expect(&tile, sizeof slot);  // finding: arrivals
  }
  cluster.sync();
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
      // finding: endless poll
      if (round > 0) wait_for_phase(&empty, (round - 1) % 2);
      load_bytes_to_all(slot, in + 32 * round, sizeof slot, &full[round], 3);
    }
    wait_for_phase(&full[round], 0);  // finding: endless poll
    sum += slot[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) arrive(&empty);
  }
  out[blockIdx.x * 32 + threadIdx.x] = sum;
  cluster.sync();
}

int main() {
  int* const in = make_array<int>(rounds * 32, [](int i) { return i; });
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  sum_tiles<<<2, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
