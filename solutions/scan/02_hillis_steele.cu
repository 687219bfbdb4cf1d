// scan 02_hillis_steele: each level adds the sum that ends twice as far to the left.
//
// idea    After the level with distance d, sums[t] covers the 2 d elements that end at t. Ten
//         levels give all 1024 sums of a tile, instead of 1023 additions in a row. The block scans
//         tile after tile, and each thread remembers the sum of the tiles so far.
// watch   A tile of 1024 takes about 10 x 1024 additions instead of 1023, and 20 barriers. One
//         block works, on one multiprocessor.
// needs   Two barriers per level: one between its reads and its writes, one after its writes.
// source  W. D. Hillis, G. L. Steele, "Data Parallel Algorithms" (1986).
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"

constexpr int block_size = 1024;  // the largest block

// The sum of the values of threads 0 to tid; total is the sum of all. `sums` has block_size words.
__device__ unsigned block_scan(unsigned value, unsigned* sums, unsigned& total) {
  const int tid = threadIdx.x;
  //> todo: turn the values in sums[] into sums of 2, 4, 8, ... values, all threads together.
  sums[tid] = value;
  __syncthreads();
  for (int distance = 1; distance < block_size; distance *= 2) {
    const unsigned left = tid >= distance ? sums[tid - distance] : 0;
    __syncthreads();  // every thread has read
    sums[tid] += left;
    __syncthreads();  // every thread has written
  }
  //<
  const unsigned sum = sums[tid];
  total = sums[block_size - 1];
  __syncthreads();  // sums is free again
  return sum;
}

__global__ void scan_kernel(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned sums[block_size];
  unsigned before = 0;  // the sum of all tiles before this one
  for (unsigned first = 0; first < n; first += block_size) {
    const unsigned i = first + threadIdx.x;
    unsigned total = 0;
    const unsigned sum = block_scan(i < n ? in[i] : 0, sums, total);
    if (i < n) out[i] = before + sum;
    before += total;
  }
}

void scan(const unsigned* in, unsigned* out, unsigned*, int n) {
  scan_kernel<<<1, block_size>>>(in, out, n);
  check(cudaGetLastError());
}
