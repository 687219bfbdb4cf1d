// The scans of a warp and of a block, one value per thread.
#pragma once

// The sum of the values of lanes 0 to lane. All lanes take part.
__device__ unsigned warp_scan(unsigned sum) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += left;
  }
  return sum;
}

// The sum of the values of threads 0 to tid; total is the sum of all. `sums` has a word per warp.
// Meet at a barrier before you use `sums` again.
__device__ unsigned block_scan(unsigned value, unsigned* sums, unsigned& total) {
  const int warps = blockDim.x / 32;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  unsigned sum = warp_scan(value);
  if (lane == 31) sums[warp] = sum;
  __syncthreads();  // every warp has stored its sum
  if (warp == 0) {
    const unsigned scanned = warp_scan(lane < warps ? sums[lane] : 0);
    if (lane < warps) sums[lane] = scanned;
  }
  __syncthreads();
  if (warp > 0) sum += sums[warp - 1];
  total = sums[warps - 1];
  return sum;
}
