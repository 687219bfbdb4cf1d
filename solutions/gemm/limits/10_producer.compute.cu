// gemm 10_producer, compute only: the products of every step, and no access to global memory.
//
// keeps   Every product, which reads whatever is in shared memory, and the two barriers of each
//         stage.
// lacks   The copies: the producer only arrives. The sums are not stored, unless they have a value
//         that they never have.
// holds   1 block of 384 threads, as in the step: shared memory is the limit.
// A yardstick for `./lab limits gemm`: its result is wrong. Tested by labs/tests/limits_test.cpp.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/store_fragments.hpp"
#include "labs/gemm/tensor_copies.hpp"
#include "labs/gemm/wgmma.hpp"

constexpr int cols = 128;  // of c per block
constexpr int depth = 64;  // columns of a, rows of b per step
constexpr int stages = 6;  // pairs of tiles in shared memory
constexpr int consumers = 2, threads = (1 + consumers) * 128;
constexpr int rows = consumers * 64;  // of c per block

// The two tiles of a step, in the layout of descriptor_of_a() and descriptor_of_b().
struct alignas(1024) tile_pair {
  __nv_bfloat16 a[rows][depth];
  __nv_bfloat16 b[cols / panel_cols][depth][panel_cols];
};

__global__ void __launch_bounds__(threads)
    gemm_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ tile_pair tiles[];
  __shared__ barrier full[stages], empty[stages];
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
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
    if (threadIdx.x > 0) return;
    for (int k0 = 0; k0 < k; k0 += depth, ring.advance()) {
      wait(empty[ring.stage], ring.parity ^ 1);
      arrive(full[ring.stage]);
    }
    return;
  }
  const int consumer = threadIdx.x / 128 - 1;
  warpgroup_sums<cols> sums = {};
  for (int k0 = 0; k0 < k; k0 += depth, ring.advance()) {
    wait(full[ring.stage], ring.parity);
    const tile_pair& now = tiles[ring.stage];
    wgmma_fence();
    const std::uint64_t a_tile = descriptor_of_a(now.a[consumer * 64]);
    const std::uint64_t b_tile = descriptor_of_b(now.b);
    for (int i = 0; i < depth / 16; ++i)
      multiply_add<cols>(sums, a_tile + i * next_16_of_a, b_tile + i * next_16_of_b, false);
    wgmma_commit();
    wgmma_wait<0>();
    if (threadIdx.x % 128 == 0) arrive(empty[ring.stage]);
  }
  constexpr float never = 1e38f;
  if (sums[0] == never) store_sums<cols>(c, row0 + consumer * 64, col0, m, n, sums);
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const dim3 grid(ceil_div(n, cols), ceil_div(m, rows));
  const CUtensorMap a_map = map_of(a, m, k, rows), b_map = map_of(b, k, n, depth);
  constexpr int bytes = stages * sizeof(tile_pair);
  check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  gemm_kernel<<<grid, threads, bytes>>>(a_map, b_map, c, m, n, k);
  check(cudaGetLastError());
}
