// gemm 06_async_ring: cp.async fills a ring of three stages.
//
// idea    A thread of 05 waits for its loads and stores the data, and then all threads wait for
//         each other. Here, the copies of the next two steps run while the warps multiply: cp.async
//         writes to shared memory without passing through registers, and threads wait for groups of
//         copies.
// watch   One barrier per step is enough. It guarantees that a stage has arrived for all threads,
//         and that all have finished reading the stage that is filled next. With mma.sync, the
//         tensor cores of compute capability 9.0 reach at most about 66 % of their peak.
// needs   Any contract sizes.
// source  CUDA C++ Programming Guide, "Asynchronous Data Copies" (cp.async, pipelines).
#include <cuda_pipeline.h>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/chunks.hpp"
#include "labs/gemm/gemm.hpp"
#include "labs/gemm/store_fragments.hpp"
#include "labs/gemm/warp_mma.hpp"

constexpr int rows = 128, cols = 128;  // of c per block
constexpr int depth = 64;              // columns of a, rows of b, between two barriers
constexpr int stages = 3;              // pairs of tiles in shared memory
constexpr int warps_y = 2, warps_x = 4, threads = warps_y * warps_x * 32;
constexpr int warp_rows = rows / warps_y, warp_cols = cols / warps_x;
constexpr int stage_elements = (rows + cols) * depth;
constexpr int tiles_y = warp_rows / 16, tiles_x = warp_cols / 8;  // fragments of a warp's sums

// The place of the chunk that holds element (row, col), in a tile with rows of Cols elements.
template <int Cols>
__device__ int swizzled(int row, int col) {
  return row * Cols + (col / chunk ^ row % 8) * chunk;
}

// Begins to copy the chunk at (row, col) of a rows x cols matrix; outside, zeros are written.
__device__ void copy_chunk(__nv_bfloat16* to, const __nv_bfloat16* matrix, int row, int col,
                           int rows, int cols) {
  const bool inside = row < rows && col < cols;
  __pipeline_memcpy_async(to, matrix + (inside ? row * cols + col : 0), 16, inside ? 0 : 16);
}

__global__ void __launch_bounds__(threads, 2)  // 2 blocks at once: 128 registers per thread
    gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                int k) {
  extern __shared__ uint4 tiles[];
  __nv_bfloat16* const first_tile = reinterpret_cast<__nv_bfloat16*>(tiles);
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
  const int warp_row = warp / warps_x * warp_rows, warp_col = warp % warps_x * warp_cols;
  fragment_c sums[tiles_y][tiles_x] = {};
  const auto fetch = [&](int k0, int stage) {
    __nv_bfloat16* const a_tile = first_tile + stage * stage_elements;
    __nv_bfloat16* const b_tile = a_tile + rows * depth;
    for (int i = tid * chunk; i < rows * depth; i += threads * chunk) {
      const int y = i / depth, x = i % depth;
      copy_chunk(&a_tile[swizzled<depth>(y, x)], a, row0 + y, k0 + x, m, k);
    }
    for (int i = tid * chunk; i < depth * cols; i += threads * chunk) {
      const int y = i / cols, x = i % cols;
      copy_chunk(&b_tile[swizzled<cols>(y, x)], b, k0 + y, col0 + x, k, n);
    }
    __pipeline_commit();
  };
  for (int stage = 0; stage < stages - 1; ++stage) fetch(stage * depth, stage);
  int now = 0;  // the stage to read
  for (int k0 = 0; k0 < k; k0 += depth) {
    //> todo: wait for the present stage, and begin to fill the one that was read in the last step.
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    fetch(k0 + (stages - 1) * depth, (now + stages - 1) % stages);
    //<
    const __nv_bfloat16* const a_tile = first_tile + now * stage_elements;
    const __nv_bfloat16* const b_tile = a_tile + rows * depth;
    now = (now + 1) % stages;
#pragma unroll
    for (int i = 0; i < depth; i += 16) {
      fragment_a a_tiles[tiles_y];
      fragment_b b_tiles[tiles_x / 2];
      const int y = lane % 16, x = lane / 16 * 8;
      for (int j = 0; j < tiles_y; ++j)
        load_fragment(a_tiles[j], &a_tile[swizzled<depth>(warp_row + j * 16 + y, i + x)]);
      for (int j = 0; j < tiles_x / 2; ++j)
        load_fragment(b_tiles[j], &b_tile[swizzled<cols>(i + y, warp_col + j * 16 + x)]);
      for (int y = 0; y < tiles_y; ++y) {
        for (int x = 0; x < tiles_x; ++x)
          multiply_add(sums[y][x], a_tiles[y], b_tiles[x / 2], x % 2);
      }
    }
  }
  for (int y = 0; y < tiles_y; ++y) {
    for (int x = 0; x < tiles_x; ++x) {
      const int row = row0 + warp_row + y * 16 + lane / 4;
      const int col = col0 + warp_col + x * 8 + lane % 4 * 2;
      store_pair(c, row, col, m, n, sums[y][x].sums[0], sums[y][x].sums[1]);
      store_pair(c, row + 8, col, m, n, sums[y][x].sums[2], sums[y][x].sums[3]);
    }
  }
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const dim3 grid(ceil_div(n, cols), ceil_div(m, rows));
  constexpr int bytes = stages * stage_elements * sizeof(__nv_bfloat16);
  check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  gemm_kernel<<<grid, threads, bytes>>>(a, b, c, m, n, k);
  check(cudaGetLastError());
}
