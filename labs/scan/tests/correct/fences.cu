// scan, correct: blocks pass sums on, with a fence between each sum and its flag.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"

constexpr int block_size = 256;

__global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* next_tile,
                           volatile unsigned* is_known, unsigned* through, int n) {
  __shared__ unsigned sums[block_size];
  __shared__ unsigned tile;
  __shared__ unsigned before;
  const int tid = threadIdx.x;
  if (tid == 0) tile = atomicAdd(next_tile, 1);
  __syncthreads();
  const unsigned i = tile * block_size + tid;
  sums[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int distance = 1; distance < block_size; distance *= 2) {
    const unsigned left = tid >= distance ? sums[tid - distance] : 0;
    __syncthreads();
    sums[tid] += left;
    __syncthreads();
  }
  if (tid == 0) {
    before = 0;
    if (tile > 0) {
      while (is_known[tile - 1] == 0) {
      }
      __threadfence();
      before = through[tile - 1];
    }
    through[tile] = before + sums[block_size - 1];
    __threadfence();
    is_known[tile] = 1;
  }
  __syncthreads();
  if (i < n) out[i] = before + sums[tid];
}

void scan(const unsigned* in, unsigned* out, unsigned* scratch, int n) {
  const int tiles = ceil_div(n, block_size);
  unsigned* const is_known = scratch + 1;
  check(cudaMemsetAsync(scratch, 0, (1 + tiles) * sizeof(unsigned)));
  scan_tiles<<<tiles, block_size>>>(in, out, scratch, is_known, is_known + tiles, n);
  check(cudaGetLastError());
}
