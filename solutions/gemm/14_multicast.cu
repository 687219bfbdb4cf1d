// gemm 14_multicast: two blocks share each tile of b.
//
// idea    A cluster of two blocks computes two tiles of c, one below the other, which need the same
//         columns of b. Each block loads half of them, and the copy is delivered to both. Two
//         blocks then read 64 KB per step from L2, not 96.
// watch   A block's copies overwrite a stage in both blocks, so the consumers of both must have
//         released it: `empty` counts the arrivals of four consumers. Each block expects all bytes
//         that arrive in its own memory. No block may exit while the other can still write to it.
// needs   Any contract sizes; compute capability 9.0.
// gain    None by itself: it saves half of the reads of b from L2, but the stores of c, which fill
//         only half of each sector, cost as much as before. 15 shows the gain of both steps.
// source  CUDA C++ Programming Guide, "Thread Block Clusters"
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/store_fragments.hpp"
#include "labs/gemm/tensor_copies.hpp"
#include "labs/gemm/wgmma.hpp"
#include "solutions/gemm/parts/sm_count.hpp"
#include "solutions/gemm/parts/tile_order.hpp"

constexpr int cols = 256;   // of c per block
constexpr int depth = 64;   // columns of a, rows of b per step
constexpr int stages = 4;   // pairs of tiles in shared memory
constexpr int cluster = 2;  // blocks that share the tiles of b
constexpr int consumers = 2, threads = (1 + consumers) * 128;
constexpr int rows = consumers * 64;  // of c per block

// The two tiles of a step, in the layout of descriptor_of_a() and descriptor_of_b().
struct alignas(1024) tile_pair {
  __nv_bfloat16 a[rows][depth];
  __nv_bfloat16 b[cols / panel_cols][depth][panel_cols];
};

__global__ void __cluster_dims__(cluster) __launch_bounds__(threads, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ tile_pair tiles[];
  __shared__ barrier full[stages], empty[stages];
  const int tiles_x = (n + cols - 1) / cols, tiles_y = (m + cluster * rows - 1) / (cluster * rows);
  const int rank = blockIdx.x % cluster;  // of the block in its cluster
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      init_barrier(full[i], 1);
      init_barrier(empty[i], cluster * consumers);
    }
    publish_barriers();
  }
  meet_cluster();  // before the other block copies to this one
  ring_position<stages> ring;
  if (threadIdx.x < 128) {
    keep_registers<24>();
    for (int tile = blockIdx.x / cluster; threadIdx.x == 0 && tile < tiles_y * tiles_x;
         tile += gridDim.x / cluster) {
      const tile_place place = place_of(tile, tiles_y, tiles_x, cluster * rows, cols);
      for (int k0 = 0; k0 < k; k0 += depth, ring.advance()) {
        tile_pair& next = tiles[ring.stage];
        wait(empty[ring.stage], ring.parity ^ 1);
        arrive_and_expect(full[ring.stage], sizeof(tile_pair));
        load_box(next.a, a, place.row + rank * rows, k0, full[ring.stage]);
        //> todo: load this block's half of b's panels for both blocks.
        constexpr int half = cols / panel_cols / cluster;
        for (int i = rank * half; i < (rank + 1) * half; ++i) {
          load_box_for(0b11, next.b[i], b, k0, place.col + i * panel_cols, full[ring.stage]);
        }
        //<
      }
    }
  } else {
    take_registers<240>();
    const int consumer = threadIdx.x / 128 - 1;
    for (int tile = blockIdx.x / cluster; tile < tiles_y * tiles_x; tile += gridDim.x / cluster) {
      const tile_place place = place_of(tile, tiles_y, tiles_x, cluster * rows, cols);
      warpgroup_sums<cols> sums;
      for (int k0 = 0; k0 < k; k0 += depth, ring.advance()) {
        wait(full[ring.stage], ring.parity);
        const tile_pair& now = tiles[ring.stage];
        wgmma_fence();
        const std::uint64_t a_tile = descriptor_of_a(now.a[consumer * 64]);
        const std::uint64_t b_tile = descriptor_of_b(now.b);
        for (int i = 0; i < depth / 16; ++i) {
          multiply_add<cols>(sums, a_tile + i * next_16_of_a, b_tile + i * next_16_of_b,
                             k0 + i == 0);
        }
        wgmma_commit();
        wgmma_wait<0>();
        if (threadIdx.x % 128 < cluster) arrive_at(empty[ring.stage], threadIdx.x % 128);
      }
      store_sums<cols>(c, place.row + rank * rows + consumer * 64, place.col, m, n, sums);
    }
  }
  meet_cluster();  // the other block may still copy to this one, or arrive at its barriers
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const int pairs = ceil_div(n, cols) * ceil_div(m, cluster * rows);
  const int blocks = cluster * std::min(pairs, std::max(1, sm_count() / cluster));
  const CUtensorMap a_map = map_of(a, m, k, rows), b_map = map_of(b, k, n, depth);
  constexpr int bytes = stages * sizeof(tile_pair);
  check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  gemm_kernel<<<blocks, threads, bytes>>>(a_map, b_map, c, m, n, k);
  check(cudaGetLastError());
}
