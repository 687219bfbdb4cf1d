// scan, correct: each block scans a tile; the sums of the tiles are scanned, and added.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"

constexpr int block_size = 256;
constexpr int warps = block_size / 32;

__device__ unsigned warp_scan(unsigned sum) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += left;
  }
  return sum;
}

__global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* totals, int n) {
  __shared__ unsigned sums[warps];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const unsigned i = blockIdx.x * block_size + threadIdx.x;
  unsigned sum = warp_scan(i < n ? in[i] : 0);
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    const unsigned scanned = warp_scan(lane < warps ? sums[lane] : 0);
    if (lane < warps) sums[lane] = scanned;
  }
  __syncthreads();
  if (warp > 0) sum += sums[warp - 1];
  if (i < n) out[i] = sum;
  if (threadIdx.x == block_size - 1) totals[blockIdx.x] = sum;
}

__global__ void add_before(unsigned* out, const unsigned* through, int n) {
  const unsigned i = (blockIdx.x + 1) * block_size + threadIdx.x;
  if (i < n) out[i] += through[blockIdx.x];
}

void scan(const unsigned* in, unsigned* out, unsigned* scratch, int n) {
  const int tiles = ceil_div(n, block_size);
  scan_tiles<<<tiles, block_size>>>(in, out, scratch, n);
  check(cudaGetLastError());
  if (tiles == 1) return;
  scan(scratch, scratch, scratch + tiles, tiles);
  add_before<<<tiles - 1, block_size>>>(out, scratch, n);
  check(cudaGetLastError());
}
