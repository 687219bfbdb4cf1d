// scan 03_blelloch: a tree adds up the tile, and hands down what lies before each part.
//
// idea    The way up is a reduction: each node gets the sum of its two halves. On the way down,
//         each node knows the sum of everything before it. Its left half gets the same sum, and its
//         right half gets this sum plus the left half's. That is 3 x 1023 operations instead of
//         10 x 1024, and the number grows with n, not with n log n.
// watch   A warp takes a level's instructions even if one lane works. There are 20 levels instead
//         of 10, and nodes far apart share banks.
// gain    None: the number of levels and barriers decides, and not the number of additions.
// needs   A block size that is a power of two.
// source  G. E. Blelloch, "Prefix Sums and Their Applications" (1990).
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"

constexpr int block_size = 1024;  // the largest block

// The sum of the values of threads 0 to tid; total is the sum of all. `sums` has block_size words.
__device__ unsigned block_scan(unsigned value, unsigned* sums, unsigned& total) {
  const int tid = threadIdx.x;
  sums[tid] = value;
  __syncthreads();
  //> todo: add up the tree, set its root to 0, and hand down the sums before each node.
  for (int distance = 1; distance < block_size; distance *= 2) {
    const int right = (tid + 1) * 2 * distance - 1;
    if (right < block_size) sums[right] += sums[right - distance];
    __syncthreads();
  }
  total = sums[block_size - 1];
  __syncthreads();                         // every thread has read the total
  if (tid == 0) sums[block_size - 1] = 0;  // this thread also reads it first
  for (int distance = block_size / 2; distance > 0; distance /= 2) {
    const int right = (tid + 1) * 2 * distance - 1;
    if (right < block_size) {
      const unsigned left_sum = sums[right - distance];
      sums[right - distance] = sums[right];
      sums[right] += left_sum;
    }
    __syncthreads();
  }
  //<
  return sums[tid] + value;  // only this thread uses sums[tid] until the next barrier
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
