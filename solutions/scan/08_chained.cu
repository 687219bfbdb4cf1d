// scan 08_chained: one pass; each block waits for the sum of everything before its tile.
//
// idea    A block keeps its tile in registers while it waits for the block before it, adds its
//         total, and passes the sum on with a flag. Each element is loaded and stored once.
// watch   The sum passes from block to block by way of the L2 cache.
// gain    None on an H200: all hops of the chain together take longer than the passes over memory
//         that are saved. The next step builds on this one.
// needs   A block may wait only for blocks that have started, so it takes the number of its tile
//         from a counter. The flags and the counter must be 0 before the kernel starts. The store
//         of a flag is a release and its load is an acquire, so a block that sees the flag also
//         sees the sum.
// source  S. Yan et al., "StreamScan" (2013).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"
#include "solutions/scan/parts/rows.hpp"

constexpr int block_size = 256;
constexpr int rows = 8;  // vectors of a thread
constexpr int row_elements = 4 * 32;
constexpr int tile = 4 * rows * block_size;

// Scans all tiles. through[t] becomes the sum of tiles 0 to t, and then is_known[t] becomes 1.
__global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* next_tile,
                           unsigned* is_known, unsigned* through, int n) {
  __shared__ unsigned sums[block_size / 32];
  __shared__ unsigned own_tile;
  __shared__ unsigned before;  // the sum of all tiles before this one
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) own_tile = atomicAdd(next_tile, 1);
  __syncthreads();
  const unsigned i = own_tile * tile + threadIdx.x / 32 * (rows * row_elements) + 4 * lane;
  uint4 v[rows];
  for (int k = 0; k < rows; ++k) v[k] = load_vector(in, i + k * row_elements, n);
  const unsigned sum = scan_rows(v);
  unsigned total = 0;
  const unsigned earlier = block_scan(lane == 0 ? sum : 0, sums, total) - sum;
  //> todo: wait for the sum of all earlier tiles, and pass on the sum that includes this tile.
  if (threadIdx.x == 0) {
    before = 0;
    if (own_tile > 0) {
      while (__nv_atomic_load_n(&is_known[own_tile - 1], __NV_ATOMIC_ACQUIRE,
                                __NV_THREAD_SCOPE_DEVICE) == 0) {
      }
      before = through[own_tile - 1];
    }
    through[own_tile] = before + total;
    __nv_atomic_store_n(&is_known[own_tile], 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  }
  __syncthreads();  // before is known
  //<
  for (int k = 0; k < rows; ++k)
    store_vector(out, i + k * row_elements, add_to_all(v[k], before + earlier), n);
}

void scan(const unsigned* in, unsigned* out, unsigned* scratch, int n) {
  const int tiles = ceil_div(n, tile);
  unsigned* const next_tile = scratch;
  unsigned* const is_known = scratch + 1;
  unsigned* const through = is_known + tiles;
  check(cudaMemsetAsync(scratch, 0, (1 + tiles) * sizeof(unsigned)));
  scan_tiles<<<tiles, block_size>>>(in, out, next_tile, is_known, through, n);
  check(cudaGetLastError());
}
