// gemm 13_tile_order: the tiles of a wave form a compact area of c.
//
// idea    132 blocks work at the same time. If their tiles lie in a few long rows, they read few
//         rows of a, but nearly all of b. If they form an area of about equal height and width,
//         they read the least in total, and most reads hit L2. Tiles are numbered in groups of 16
//         tile rows, column by column.
// watch   The gain appears when a and b do not fit in L2 together.
// needs   Any contract sizes; compute capability 9.0.
// source  P. Tillet et al., "Triton" (2019), tutorial "Matrix Multiplication": grouped ordering.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/store_fragments.hpp"
#include "labs/gemm/tensor_copies.hpp"
#include "labs/gemm/wgmma.hpp"
#include "solutions/gemm/parts/sm_count.hpp"

constexpr int cols = 256;  // of c per block
constexpr int depth = 64;  // columns of a, rows of b per step
constexpr int stages = 4;  // pairs of tiles in shared memory
constexpr int group = 16;  // rows of tiles that are done together
constexpr int consumers = 2, threads = (1 + consumers) * 128;
constexpr int rows = consumers * 64;  // of c per block

// The two tiles of a step, in the layout of descriptor_of_a() and descriptor_of_b().
struct alignas(1024) tile_pair {
  __nv_bfloat16 a[rows][depth];
  __nv_bfloat16 b[cols / panel_cols][depth][panel_cols];
};

struct tile_place {
  int row, col;  // of its first element in c
};

// Tiles are numbered group by group, and column by column within a group.
__device__ tile_place place_of(int tile, int tiles_y, int tiles_x) {
  //> todo: number the tiles in groups of `group` rows; the last group may have fewer rows.
  const int first_y = tile / (group * tiles_x) * group, in_group = tile - first_y * tiles_x;
  const int group_y = min(group, tiles_y - first_y);
  return {(first_y + in_group % group_y) * rows, in_group / group_y * cols};
  //<
}

__global__ void __launch_bounds__(threads, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ tile_pair tiles[];
  __shared__ barrier full[stages], empty[stages];
  const int tiles_x = (n + cols - 1) / cols, tiles_y = (m + rows - 1) / rows;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      init_barrier(full[i], 1);
      init_barrier(empty[i], consumers);
    }
    publish_barriers();
  }
  __syncthreads();
  ring_position<stages> ring;
  if (threadIdx.x < 128) {
    keep_registers<24>();
    if (threadIdx.x > 0) return;
    for (int tile = blockIdx.x; tile < tiles_y * tiles_x; tile += gridDim.x) {
      const tile_place place = place_of(tile, tiles_y, tiles_x);
      for (int k0 = 0; k0 < k; k0 += depth, ring.advance()) {
        tile_pair& next = tiles[ring.stage];
        wait(empty[ring.stage], ring.parity ^ 1);
        arrive_and_expect(full[ring.stage], sizeof(tile_pair));
        load_box(next.a, a, place.row, k0, full[ring.stage]);
        for (int i = 0; i < cols / panel_cols; ++i)
          load_box(next.b[i], b, k0, place.col + i * panel_cols, full[ring.stage]);
      }
    }
    return;
  }
  take_registers<240>();
  const int consumer = threadIdx.x / 128 - 1;
  for (int tile = blockIdx.x; tile < tiles_y * tiles_x; tile += gridDim.x) {
    const tile_place place = place_of(tile, tiles_y, tiles_x);
    warpgroup_sums<cols> sums;
    for (int k0 = 0; k0 < k; k0 += depth, ring.advance()) {
      wait(full[ring.stage], ring.parity);
      const tile_pair& now = tiles[ring.stage];
      wgmma_fence();
      const std::uint64_t a_tile = descriptor_of_a(now.a[consumer * 64]);
      const std::uint64_t b_tile = descriptor_of_b(now.b);
      for (int i = 0; i < depth / 16; ++i) {
        multiply_add<cols>(sums, a_tile + i * next_16_of_a, b_tile + i * next_16_of_b, k0 + i == 0);
      }
      wgmma_commit();
      wgmma_wait<0>();
      if (threadIdx.x % 128 == 0) arrive(empty[ring.stage]);
    }
    store_sums<cols>(c, place.row + consumer * 64, place.col, m, n, sums);
  }
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const int blocks = std::min(ceil_div(n, cols) * ceil_div(m, rows), sm_count());
  const CUtensorMap a_map = map_of(a, m, k, rows), b_map = map_of(b, k, n, depth);
  constexpr int bytes = stages * sizeof(tile_pair);
  check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  gemm_kernel<<<blocks, threads, bytes>>>(a_map, b_map, c, m, n, k);
  check(cudaGetLastError());
}
