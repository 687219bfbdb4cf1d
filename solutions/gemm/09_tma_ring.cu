// gemm 09_tma_ring: copies for the next three steps are in flight.
//
// idea    A ring of four stages hides the latency of the copies. When all threads have finished
//         with a stage, one thread begins to fill it for the step after the next two.
// watch   Each stage has its own barrier, which completes one phase per round of the ring: its
//         parity changes every four steps.
// needs   Any contract sizes; compute capability 9.0.
// source  CUDA C++ Programming Guide, "Asynchronous Barriers".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/store_fragments.hpp"
#include "labs/gemm/tensor_copies.hpp"
#include "labs/gemm/wgmma.hpp"

constexpr int cols = 128;  // of c per block
constexpr int depth = 64;  // columns of a, rows of b, between two barriers
constexpr int stages = 4;  // pairs of tiles in shared memory
constexpr int warpgroups = 2, threads = warpgroups * 128;
constexpr int rows = warpgroups * 64;  // of c per block

// The two tiles of a step, in the layout of descriptor_of_a() and descriptor_of_b().
struct alignas(1024) tile_pair {
  __nv_bfloat16 a[rows][depth];
  __nv_bfloat16 b[cols / panel_cols][depth][panel_cols];
};

__global__ void __launch_bounds__(threads)
    gemm_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ tile_pair tiles[];
  __shared__ barrier full[stages];
  const int warpgroup = threadIdx.x / 128;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int steps = (k + depth - 1) / depth;
  const auto fetch = [&](int step) {
    if (threadIdx.x > 0 || step >= steps) return;
    const int stage = step % stages;
    arrive_and_expect(full[stage], sizeof(tile_pair));
    load_box(tiles[stage].a, a, row0, step * depth, full[stage]);
    for (int i = 0; i < cols / panel_cols; ++i)
      load_box(tiles[stage].b[i], b, step * depth, col0 + i * panel_cols, full[stage]);
  };
  if (threadIdx.x == 0) {
    for (barrier& b : full) init_barrier(b, 1);
    publish_barriers();
  }
  __syncthreads();
  for (int step = 0; step < stages - 1; ++step) fetch(step);
  warpgroup_sums<cols> sums = {};
  for (int step = 0; step < steps; ++step) {
    //> todo: wait for this step's stage; when all are done with the last one, fill it again.
    wait(full[step % stages], step / stages % 2);
    __syncthreads();
    fetch(step + stages - 1);
    //<
    const tile_pair& now = tiles[step % stages];
    wgmma_fence();
    const std::uint64_t a_tile = descriptor_of_a(now.a[warpgroup * 64]);
    const std::uint64_t b_tile = descriptor_of_b(now.b);
    for (int i = 0; i < depth / 16; ++i)
      multiply_add<cols>(sums, a_tile + i * next_16_of_a, b_tile + i * next_16_of_b, false);
    wgmma_commit();
    wgmma_wait<0>();
  }
  store_sums<cols>(c, row0 + warpgroup * 64, col0, m, n, sums);
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const dim3 grid(ceil_div(n, cols), ceil_div(m, rows));
  const CUtensorMap a_map = map_of(a, m, k, rows), b_map = map_of(b, k, n, depth);
  constexpr int bytes = stages * sizeof(tile_pair);
  check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  gemm_kernel<<<grid, threads, bytes>>>(a_map, b_map, c, m, n, k);
  check(cudaGetLastError());
}
