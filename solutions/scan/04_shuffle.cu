// scan 04_shuffle: a warp scans in registers, and one warp scans the warps' sums.
//
// idea    Hillis and Steele's levels within a warp are five shuffles, without shared memory and
//         without barriers. Each warp stores its sum, the first warp scans the 32 sums, and each
//         thread adds the sum of the warps before its own.
// watch   Each thread loads one element, and waits for it. Then the block meets at three barriers
//         to scan 4 KB.
// needs   A block size that is a multiple of 32.
// source  CUDA C++ Programming Guide, "Warp Shuffle Functions".
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"

constexpr int block_size = 1024;  // the largest block

// The sum of the values of lanes 0 to lane. All lanes take part.
__device__ unsigned warp_scan(unsigned sum) {
  //> todo: do the levels of distance 1, 2, 4, 8 and 16 by shuffles.
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += left;
  }
  //<
  return sum;
}

// The sum of the values of threads 0 to tid; total is the sum of all. `sums` has a word per warp.
// Meet at a barrier before you use `sums` again.
__device__ unsigned block_scan(unsigned value, unsigned* sums, unsigned& total) {
  const int warps = blockDim.x / 32;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  unsigned sum = value;
  //> todo: scan each warp, store its sum, and let the first warp scan the sums of the warps.
  sum = warp_scan(value);
  if (lane == 31) sums[warp] = sum;
  __syncthreads();  // every warp has stored its sum
  if (warp == 0) {
    const unsigned scanned = warp_scan(lane < warps ? sums[lane] : 0);
    if (lane < warps) sums[lane] = scanned;
  }
  __syncthreads();
  if (warp > 0) sum += sums[warp - 1];
  //<
  total = sums[warps - 1];
  return sum;
}

__global__ void scan_kernel(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned sums[block_size / 32];
  unsigned before = 0;  // the sum of all tiles before this one
  for (unsigned first = 0; first < n; first += block_size) {
    const unsigned i = first + threadIdx.x;
    unsigned total = 0;
    const unsigned sum = block_scan(i < n ? in[i] : 0, sums, total);
    if (i < n) out[i] = before + sum;
    before += total;
    __syncthreads();  // sums is free again
  }
}

void scan(const unsigned* in, unsigned* out, unsigned*, int n) {
  scan_kernel<<<1, block_size>>>(in, out, n);
  check(cudaGetLastError());
}
