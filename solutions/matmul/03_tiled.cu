// matmul 03_tiled: a block stages tiles of a and b in shared memory.
//
// idea    A block computes a tile of c. It walks along a band of a and down a band of b, one pair
//         of tiles at a time. A float is loaded once per block and used by 32 threads, so the reads
//         of global memory fall by a factor of 32.
// watch   Both operands of every multiply-add still come from memory, now from shared memory. More
//         than half of all instructions are loads, and shared memory serves one warp at a time.
// needs   Blocks of tile x tile threads, 1024. Elements outside the matrices count as 0.
// source  CUDA C++ Programming Guide, "Shared Memory"; Filipovic (2014), the version with blocks.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/matmul/matmul.hpp"

constexpr int tile = 32;  // a warp is one row of it; two tiles take 8 KB of shared memory

__global__ void matmul_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;

  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += tile) {
    //> todo: fetch a tile of a and one of b, one float each per thread, and add their products.
    a_tile[ty][tx] = row < n && k0 + tx < n ? a[row * n + k0 + tx] : 0;
    b_tile[ty][tx] = k0 + ty < n && col < n ? b[(k0 + ty) * n + col] : 0;
    __syncthreads();  // every thread has fetched its part
    for (int k = 0; k < tile; ++k) sum = fmaf(a_tile[ty][k], b_tile[k][tx], sum);
    __syncthreads();  // every thread has used the tiles
    //<
  }

  if (row < n && col < n) c[row * n + col] = sum;
}

void matmul(const float* a, const float* b, float* c, int n) {
  const dim3 block(tile, tile);
  const dim3 grid(ceil_div(n, tile), ceil_div(n, tile));
  matmul_kernel<<<grid, block>>>(a, b, c, n);
  check(cudaGetLastError());
}
