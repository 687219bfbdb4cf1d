// gemm 08_tma: one thread copies whole tiles by TMA.
//
// idea    In 07, 256 threads compute addresses, test edges, swizzle, load and store, 16 bytes at a
//         time. TMA does all of it for a box of 64 columns when one thread names the box. A barrier
//         in shared memory counts the bytes, and its phase ends when the tiles are complete.
// watch   All threads wait for bytes, not for the thread that requested them. TMA and wgmma use the
//         same proxy, so no fence is needed. At the edges, TMA writes zeros and counts their bytes.
// needs   Any contract sizes; compute capability 9.0.
// source  CUDA C++ Programming Guide, "Asynchronous Data Copies using the Tensor Memory
//         Accelerator"
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/store_fragments.hpp"
#include "labs/gemm/tensor_copies.hpp"
#include "labs/gemm/wgmma.hpp"

constexpr int cols = 128;  // of c per block
constexpr int depth = 64;  // columns of a, rows of b, between two barriers
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
  __shared__ tile_pair tiles;
  __shared__ barrier full;
  const int warpgroup = threadIdx.x / 128;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  if (threadIdx.x == 0) {
    init_barrier(full, 1);
    publish_barriers();
  }
  warpgroup_sums<cols> sums = {};
  for (int k0 = 0; k0 < k; k0 += depth) {
    __syncthreads();  // the barrier is there, and all are done with the last tiles
    //> todo: one thread announces the bytes and begins the copies; then all wait for the bytes.
    if (threadIdx.x == 0) {
      arrive_and_expect(full, sizeof tiles);
      load_box(tiles.a, a, row0, k0, full);
      for (int i = 0; i < cols / panel_cols; ++i)
        load_box(tiles.b[i], b, k0, col0 + i * panel_cols, full);
    }
    wait(full, k0 / depth % 2);
    //<
    wgmma_fence();
    const std::uint64_t a_tile = descriptor_of_a(tiles.a[warpgroup * 64]);
    const std::uint64_t b_tile = descriptor_of_b(tiles.b);
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
  gemm_kernel<<<grid, threads>>>(a_map, b_map, c, m, n, k);
  check(cudaGetLastError());
}
