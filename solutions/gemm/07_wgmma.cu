// gemm 07_wgmma: a warpgroup multiplies from shared memory.
//
// idea    wgmma reads both operands from shared memory, so no fragment passes through registers,
//         and four warps work as one. Descriptors say where and how the tiles lie (wgmma.hpp). The
//         128-byte swizzle is the permutation of 05, and the hardware applies it.
// watch   Threads write the tiles through the generic proxy, and wgmma reads them through the async
//         proxy. A barrier alone does not order the two. Every thread that has written must execute
//         a proxy fence first.
// needs   Any contract sizes; compute capability 9.0, like all later steps.
// source  PTX ISA 9.1, "Asynchronous Warpgroup Level Matrix Instructions"; "Async proxy"
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/chunks.hpp"
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

__device__ int swizzled(int row, int col) { return (col / chunk ^ row % 8) * chunk; }

__global__ void __launch_bounds__(threads)
    gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                int k) {
  __shared__ tile_pair tiles;
  const int tid = threadIdx.x, warpgroup = tid / 128;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  warpgroup_sums<cols> sums = {};
  for (int k0 = 0; k0 < k; k0 += depth) {
    __syncthreads();
    for (int i = tid * chunk; i < rows * depth; i += threads * chunk) {
      const int y = i / depth, x = i % depth;
      reinterpret_cast<uint4&>(tiles.a[y][swizzled(y, x)]) = load_chunk(a, row0 + y, k0 + x, m, k);
    }
    for (int i = tid * chunk; i < depth * cols; i += threads * chunk) {
      const int y = i / cols, x = i % cols;
      reinterpret_cast<uint4&>(tiles.b[x / panel_cols][y][swizzled(y, x % panel_cols)]) =
          load_chunk(b, k0 + y, col0 + x, k, n);
    }
    fence_proxy();
    __syncthreads();
    //> todo: multiply the tiles in four steps of 16 along k, commit them as a group, and wait.
    wgmma_fence();
    const std::uint64_t a_tile = descriptor_of_a(tiles.a[warpgroup * 64]);
    const std::uint64_t b_tile = descriptor_of_b(tiles.b);
    for (int i = 0; i < depth / 16; ++i)
      multiply_add<cols>(sums, a_tile + i * next_16_of_a, b_tile + i * next_16_of_b, false);
    wgmma_commit();
    wgmma_wait<0>();
    //<
  }
  store_sums<cols>(c, row0 + warpgroup * 64, col0, m, n, sums);
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const dim3 grid(ceil_div(n, cols), ceil_div(m, rows));
  gemm_kernel<<<grid, threads>>>(a, b, c, m, n, k);
  check(cudaGetLastError());
}
