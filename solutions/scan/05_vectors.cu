// scan 05_vectors: each load brings 16 bytes per lane, and lanes load neighbouring vectors.
//
// idea    A row is 32 vectors of four elements, one for each lane. A lane adds up its vector, and a
//         warp scan gives it the sum of the vectors before it. A warp scans four rows, and each row
//         begins with the sum of the rows before it. Every request fills 16 sectors.
// watch   The barriers of a tile serve 16384 elements instead of 1024, and a thread waits for four
//         loads at once. But one multiprocessor works, and all others are idle.
// needs   `in` and `out` aligned to 16 bytes (the contract promises 256). The last n % 4 elements
//         fill no vector.
// source  reduction 09_vectors. CUB transposes a tile in shared memory instead.
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"
#include "solutions/scan/parts/block_scan.hpp"
#include "solutions/scan/parts/vectors.hpp"

constexpr int block_size = 1024;  // the largest block
constexpr int rows = 4;           // vectors of a thread
constexpr int row_elements = 4 * 32;
constexpr int tile = 4 * rows * block_size;

__global__ void scan_kernel(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned sums[block_size / 32];
  const int lane = threadIdx.x % 32;
  unsigned before = 0;  // the sum of all tiles before this one
  for (unsigned first = 0; first < n; first += tile) {
    const unsigned i = first + threadIdx.x / 32 * (rows * row_elements) + 4 * lane;
    uint4 v[rows];
    for (int k = 0; k < rows; ++k) v[k] = load_vector(in, i + k * row_elements, n);
    unsigned sum = 0;  // of the rows so far
    //> todo: scan each row by a warp scan, and add the sum of the rows before it.
    for (int k = 0; k < rows; ++k) {
      v[k].y += v[k].x;
      v[k].z += v[k].y;
      v[k].w += v[k].z;
      const unsigned through = warp_scan(v[k].w);
      v[k] = add_to_all(v[k], sum + through - v[k].w);
      sum += __shfl_sync(0xffffffff, through, 31);
    }
    //<
    unsigned total = 0;
    const unsigned earlier = before + block_scan(lane == 0 ? sum : 0, sums, total) - sum;
    for (int k = 0; k < rows; ++k)
      store_vector(out, i + k * row_elements, add_to_all(v[k], earlier), n);
    before += total;
    __syncthreads();  // sums is free again
  }
}

void scan(const unsigned* in, unsigned* out, unsigned*, int n) {
  scan_kernel<<<1, block_size>>>(in, out, n);
  check(cudaGetLastError());
}
