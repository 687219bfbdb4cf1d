// gemm 15_tma_store: sums leave through shared memory, and TMA stores them.
//
// idea    A thread's two sums are 4 bytes, so a warp's store of 14 touches 8 rows with 16 bytes
//         each. Here the consumers write boxes of 64 x 64 to shared memory, with stmatrix and the
//         swizzle. One thread per consumer then stores each box by TMA, which writes whole rows and
//         skips elements outside of c. Meanwhile, the consumers already multiply again.
// watch   A box must not be overwritten while TMA reads it, so the thread that has begun the store
//         waits, and the others meet it at a barrier. Every thread has written to the box, so every
//         thread executes the fence, and then the second barrier follows.
// needs   Any contract sizes; compute capability 9.0.
// source  PTX ISA 9.1, "stmatrix" and "cp.async.bulk.tensor".
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/tensor_copies.hpp"
#include "labs/gemm/wgmma.hpp"
#include "solutions/gemm/parts/sm_count.hpp"
#include "solutions/gemm/parts/store_boxes.hpp"
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

struct shared_memory {
  tile_pair tiles[stages];
  output_boxes out[consumers];
};

__global__ void __cluster_dims__(cluster) __launch_bounds__(threads, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                const __grid_constant__ CUtensorMap c, int m, int n, int k) {
  extern __shared__ shared_memory shared[];
  auto& tiles = shared->tiles;
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
        constexpr int half = cols / panel_cols / cluster;
        for (int i = rank * half; i < (rank + 1) * half; ++i) {
          load_box_for(0b11, next.b[i], b, k0, place.col + i * panel_cols, full[ring.stage]);
        }
      }
    }
  } else {
    take_registers<240>();
    const int consumer = threadIdx.x / 128 - 1;
    int next_box = 0;
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
      //> todo: store the sums by way of this consumer's boxes in shared memory.
      store_boxes<cols>(c, place.row + rank * rows + consumer * 64, place.col, sums,
                        shared->out[consumer], next_box, 1 + consumer);
      //<
    }
  }
  if (threadIdx.x % 128 == 0) wait_for_reads<0>();  // the boxes stay until they have been read
  meet_cluster();  // the other block may still copy to this one, or arrive at its barriers
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const int pairs = ceil_div(n, cols) * ceil_div(m, cluster * rows);
  const int blocks = cluster * std::min(pairs, std::max(1, sm_count() / cluster));
  const CUtensorMap a_map = map_of(a, m, k, rows), b_map = map_of(b, k, n, depth);
  const CUtensorMap c_map = map_of(c, m, n, 64);
  constexpr int bytes = sizeof(shared_memory);
  check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  gemm_kernel<<<blocks, threads, bytes>>>(a_map, b_map, c_map, m, n, k);
  check(cudaGetLastError());
}
