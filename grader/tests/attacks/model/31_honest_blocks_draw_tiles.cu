// honest transpose: PASS or SLOW, at least 60 points
// Persistent blocks take tiles by means of a counter in device memory.
#include "common/lab/check.hpp"
#include "labs/transpose/transpose.hpp"
__device__ int next_tile, blocks_done;
__global__ void tiles(const float* in, float* out, int rows, int cols) {
  __shared__ float t[32][33];
  __shared__ int mine;
  const int wide = (cols + 31) / 32, all = wide * ((rows + 31) / 32);
  for (;;) {
    if (threadIdx.x == 0 && threadIdx.y == 0) mine = atomicAdd(&next_tile, 1);
    __syncthreads();
    const int which = mine;
    if (which >= all) break;
    const int col = which % wide * 32, row = which / wide * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
      if (row + k < rows && col + int(threadIdx.x) < cols)
        t[k][threadIdx.x] = in[size_t(row + k) * cols + col + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
      if (col + k < cols && row + int(threadIdx.x) < rows)
        out[size_t(col + k) * rows + row + threadIdx.x] = t[threadIdx.x][k];
    __syncthreads();
  }
  // The last block resets both counters for the next call.
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  if (atomicAdd(&blocks_done, 1) + 1 < int(gridDim.x)) return;
  atomicExch(&next_tile, 0);
  atomicExch(&blocks_done, 0);
}
void transpose(const float* in, float* out, int rows, int cols) {
  tiles<<<132 * 8, dim3(32, 8)>>>(in, out, rows, cols);
  check(cudaGetLastError());
}
