// scan 05_items: each thread scans eight consecutive elements by itself.
//
// idea    A thread adds up its elements, one after the other, without help from other threads. Only
//         the threads' sums go through shuffles and barriers: 8192 elements share what 1024 took
//         before, and a thread waits for eight loads at once.
// watch   The lanes' elements lie 32 bytes apart, so each load of a warp touches 32 sectors. The L1
//         cache keeps the other elements of a sector for the loads that follow. All but one of the
//         multiprocessors are still idle.
// needs   nothing new.
// source  The same idea as for reductions: R. Brent (1974), reduction 07_grid_stride.
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"
#include "solutions/scan/parts/block_scan.hpp"

constexpr int block_size = 1024;  // the largest block
constexpr int items = 8;          // consecutive elements of a thread
constexpr int tile = items * block_size;

__global__ void scan_kernel(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned sums[block_size / 32];
  unsigned before = 0;  // the sum of all tiles before this one
  for (unsigned first = 0; first < n; first += tile) {
    //> todo: add up the thread's elements, scan the threads' sums, and store all sums.
    const unsigned i = first + items * threadIdx.x;
    unsigned own[items];  // the sums of this thread's first elements
    unsigned sum = 0;
    for (int k = 0; k < items; ++k) {
      sum += i + k < n ? in[i + k] : 0;
      own[k] = sum;
    }
    unsigned total = 0;
    const unsigned earlier = before + block_scan(sum, sums, total) - sum;
    for (int k = 0; k < items; ++k) {
      if (i + k < n) out[i + k] = earlier + own[k];
    }
    before += total;
    //<
  }
}

void scan(const unsigned* in, unsigned* out, unsigned*, int n) {
  scan_kernel<<<1, block_size>>>(in, out, n);
  check(cudaGetLastError());
}
