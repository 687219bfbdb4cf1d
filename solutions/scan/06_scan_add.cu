// scan 06_scan_add: each block scans a tile; then the sums of the tiles are scanned, and added.
//
// idea    Three kernels for any n. The first scans each tile alone and stores the sum of each tile.
//         The second scans these sums, by calling scan() itself. The third adds to each element
//         what lies before its tile. All multiprocessors work. This is scan-then-propagate.
// watch   Every element is loaded twice and stored twice.
// needs   Scratch memory for a word per tile, and for the levels above. The calls for the upper
//         levels scan in place: each thread loads its elements before it stores their sums.
// source  M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA" (2007).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"
#include "solutions/scan/parts/rows.hpp"

constexpr int block_size = 256;
constexpr int rows = 8;  // vectors of a thread
constexpr int row_elements = 4 * 32;
constexpr int tile = 4 * rows * block_size;

// Scans each tile by itself. totals[b] = the sum of tile b.
__global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* totals, int n) {
  __shared__ unsigned sums[block_size / 32];
  const int lane = threadIdx.x % 32;
  const unsigned i = blockIdx.x * tile + threadIdx.x / 32 * (rows * row_elements) + 4 * lane;
  uint4 v[rows];
  for (int k = 0; k < rows; ++k) v[k] = load_vector(in, i + k * row_elements, n);
  const unsigned sum = scan_rows(v);
  unsigned total = 0;
  const unsigned earlier = block_scan(lane == 0 ? sum : 0, sums, total) - sum;
  for (int k = 0; k < rows; ++k)
    store_vector(out, i + k * row_elements, add_to_all(v[k], earlier), n);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// Adds to each tile but the first what lies before it: through[b] is the sum of tiles 0 to b.
__global__ void add_before(unsigned* out, const unsigned* through, int n) {
  //> todo: let block b add the sum of tiles 0 to b to each element of tile b + 1.
  const unsigned first = (blockIdx.x + 1) * tile + 4 * threadIdx.x;
  for (int k = 0; k < rows; ++k) {
    const unsigned i = first + 4 * k * block_size;
    store_vector(out, i, add_to_all(load_vector(out, i, n), through[blockIdx.x]), n);
  }
  //<
}

void scan(const unsigned* in, unsigned* out, unsigned* scratch, int n) {
  const int tiles = ceil_div(n, tile);
  unsigned* const totals = scratch;
  scan_tiles<<<tiles, block_size>>>(in, out, totals, n);
  check(cudaGetLastError());
  //> todo: if there are several tiles, scan their sums in place, and add them.
  if (tiles == 1) return;
  scan(totals, totals, scratch + tiles, tiles);
  add_before<<<tiles - 1, block_size>>>(out, totals, n);
  check(cudaGetLastError());
  //<
}
