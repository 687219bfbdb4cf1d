// gemm, correct: a single cluster computes all tiles, shares those of b, and stores by TMA.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/tensor_copies.hpp"
#include "labs/gemm/wgmma.hpp"

// Two boxes of 64 x 64 elements: one is written while TMA reads the other.
struct alignas(1024) output_boxes {
  __nv_bfloat16 boxes[2][64][64];
};

// Stores the 64 x Cols sums of a warpgroup from (row, col). The warpgroup's threads meet at the
// named barrier with this number. Returns while TMA may still read the boxes.
template <int Cols>
__device__ void store_boxes(const CUtensorMap& c, int row, int col, const float (&sums)[Cols / 2],
                            output_boxes& out, int barrier_number) {
  const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
  const auto meet = [&] { asm volatile("bar.sync %0, 128;" ::"r"(barrier_number) : "memory"); };
#pragma unroll
  for (int panel = 0; panel < Cols / 64; ++panel) {
    auto& box = out.boxes[panel % 2];
    if (thread == 0) wait_for_reads<1>();  // of the box before the last one, which is this one
    meet();
    const int y = warp * 16 + lane % 16;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int chunk = 2 * i + lane / 16;
      store_matrices(&box[y][(chunk ^ y % 8) * 8], &sums[panel * 32 + i * 8]);
    }
    fence_proxy();
    meet();
    if (thread == 0) store_box(c, row, col + panel * 64, box);
  }
}

constexpr int cols = 128;   // of c per block
constexpr int depth = 64;   // columns of a, rows of b per step
constexpr int stages = 3;   // pairs of tiles in shared memory
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
    for (int tile = 0; threadIdx.x == 0 && tile < tiles_y * tiles_x; ++tile) {
      const int row0 = (tile / tiles_x * cluster + rank) * rows, col0 = tile % tiles_x * cols;
      for (int k0 = 0; k0 < k; k0 += depth, ring.advance()) {
        tile_pair& next = tiles[ring.stage];
        wait(empty[ring.stage], ring.parity ^ 1);
        arrive_and_expect(full[ring.stage], sizeof(tile_pair));
        load_box(next.a, a, row0, k0, full[ring.stage]);
        constexpr int half = cols / panel_cols / cluster;
        for (int i = rank * half; i < (rank + 1) * half; ++i) {
          load_box_for(0b11, next.b[i], b, k0, col0 + i * panel_cols, full[ring.stage]);
        }
      }
    }
  } else {
    take_registers<240>();
    const int consumer = threadIdx.x / 128 - 1;
    for (int tile = 0; tile < tiles_y * tiles_x; ++tile) {
      const int row0 = (tile / tiles_x * cluster + rank) * rows, col0 = tile % tiles_x * cols;
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
      store_boxes<cols>(c, row0 + consumer * 64, col0, sums, shared->out[consumer], 1 + consumer);
    }
  }
  if (threadIdx.x % 128 == 0) wait_for_reads<0>();  // the boxes stay until they have been read
  meet_cluster();  // the other block may still copy to this one, or arrive at its barriers
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const CUtensorMap a_map = map_of(a, m, k, rows), b_map = map_of(b, k, n, depth);
  const CUtensorMap c_map = map_of(c, m, n, 64);
  constexpr int bytes = sizeof(shared_memory);
  check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  gemm_kernel<<<cluster, threads, bytes>>>(a_map, b_map, c_map, m, n, k);
  check(cudaGetLastError());
}
