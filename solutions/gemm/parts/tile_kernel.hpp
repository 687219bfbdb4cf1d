// The kernel of 16_stream_k for tiles of any width, in single blocks or clusters of two.
//
// idea    Each block of a cluster loads half of the rows of b's tile, so the tile may have an odd
//         number of panels. Narrow tiles leave room for more stages. Their steps are short, so a
//         consumer keeps one multiplication in flight and gives back the stage of the one before.
#pragma once

#include "labs/gemm/gemm.hpp"
#include "labs/gemm/tensor_copies.hpp"
#include "labs/gemm/wgmma.hpp"
#include "solutions/gemm/parts/partial_sums.hpp"
#include "solutions/gemm/parts/step_shares.hpp"
#include "solutions/gemm/parts/store_boxes.hpp"
#include "solutions/gemm/parts/tile_order.hpp"

constexpr int depth = 64;  // columns of a, rows of b per step
constexpr int consumers = 2, threads = (1 + consumers) * 128;
constexpr int rows = consumers * 64;  // of c per block

// The two tiles of a step, in the layout of descriptor_of_a() and descriptor_of_b().
template <int Cols>
struct alignas(1024) tile_pair {
  __nv_bfloat16 a[rows][depth];
  __nv_bfloat16 b[Cols / panel_cols][depth][panel_cols];
};

// As many pairs of tiles as fit next to the output boxes.
template <int Cols>
constexpr int stages = 192 * 1024 / sizeof(tile_pair<Cols>);

template <int Cols>
struct shared_memory {
  tile_pair<Cols> tiles[stages<Cols>];
  output_boxes out[consumers];
};

template <int Cols, int Cluster>
__global__ void __cluster_dims__(Cluster) __launch_bounds__(threads, 1)
    tile_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                const __grid_constant__ CUtensorMap c, int m, int n, int k, int rounds) {
  extern __shared__ __align__(1024) unsigned char dynamic_memory[];
  auto& shared = *reinterpret_cast<shared_memory<Cols>*>(dynamic_memory);
  auto& tiles = shared.tiles;
  __shared__ barrier full[stages<Cols>], empty[stages<Cols>];
  const int tiles_x = (n + Cols - 1) / Cols, tiles_y = (m + Cluster * rows - 1) / (Cluster * rows);
  const int rank = blockIdx.x % Cluster;  // of the block in its cluster
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages<Cols>; ++i) {
      init_barrier(full[i], 1);
      init_barrier(empty[i], Cluster * consumers);
    }
    publish_barriers();
  }
  meet_cluster();  // before the other block copies to this one
  ring_position<stages<Cols>> ring;
  step_share share(tiles_y * tiles_x, (k + depth - 1) / depth, rounds, gridDim.x / Cluster,
                   blockIdx.x / Cluster);
  tile_part part;
  if (threadIdx.x < 128) {
    keep_registers<24>();
    while (threadIdx.x == 0 && share.next(part)) {
      const tile_place place = place_of(part.tile, tiles_y, tiles_x, Cluster * rows, Cols);
      for (int step = part.from; step < part.to; ++step, ring.advance()) {
        const int k0 = step * depth;
        tile_pair<Cols>& next = tiles[ring.stage];
        wait(empty[ring.stage], ring.parity ^ 1);
        arrive_and_expect(full[ring.stage], sizeof(tile_pair<Cols>));
        load_box(next.a, a, place.row + rank * rows, k0, full[ring.stage]);
        const int half = rank * depth / Cluster;  // the rows of b that this block loads for both
        for (int i = 0; i < Cols / panel_cols; ++i) {
          load_box_for((1 << Cluster) - 1, next.b[i][half], b, k0 + half,
                       place.col + i * panel_cols, full[ring.stage]);
        }
      }
    }
  } else {
    take_registers<240>();
    const int consumer = threadIdx.x / 128 - 1;
    int next_box = 0;
    const int slot = blockIdx.x * consumers + consumer, one_cluster = Cluster * consumers;
    while (share.next(part)) {
      const tile_place place = place_of(part.tile, tiles_y, tiles_x, Cluster * rows, Cols);
      warpgroup_sums<Cols> sums;
      int last_stage = 0;
      for (int step = part.from; step < part.to; ++step, ring.advance()) {
        wait(full[ring.stage], ring.parity);
        const tile_pair<Cols>& now = tiles[ring.stage];
        wgmma_fence();
        const std::uint64_t a_tile = descriptor_of_a(now.a[consumer * 64]);
        const std::uint64_t b_tile = descriptor_of_b(now.b);
        for (int i = 0; i < depth / 16; ++i) {
          multiply_add<Cols>(sums, a_tile + i * next_16_of_a, b_tile + i * next_16_of_b,
                             step == part.from && i == 0);
        }
        wgmma_commit();
        wgmma_wait<1>();  // for the step before
        if (step > part.from && threadIdx.x % 128 < Cluster)
          arrive_at(empty[last_stage], threadIdx.x % 128);
        last_stage = ring.stage;
      }
      wgmma_wait<0>();
      if (threadIdx.x % 128 < Cluster) arrive_at(empty[last_stage], threadIdx.x % 128);
      if (part.to < (k + depth - 1) / depth) {
        hand_over(sums, slot, 1 + consumer);
        continue;
      }
      if (part.from > 0) {
        for (int i = 1;
             i <= blockIdx.x / Cluster && share.has_part_of(part.tile, blockIdx.x / Cluster - i);
             ++i)
          add_from(sums, slot - i * one_cluster, 1 + consumer);
      }
      store_boxes<Cols>(c, place.row + rank * rows + consumer * 64, place.col, sums,
                        shared.out[consumer], next_box, 1 + consumer);
    }
  }
  if (threadIdx.x % 128 == 0) wait_for_reads<0>();  // the boxes stay until they have been read
  meet_cluster();  // the other block may still copy to this one, or arrive at its barriers
}
