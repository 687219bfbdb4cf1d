// scan 07_reduce_scan: tiles are added up first; each is scanned once, with the sum before it.
//
// idea    The first kernel needs the sum of each tile, not its scan, so it stores nothing else. The
//         last kernel then scans a tile and adds what lies before it in one go. Each element is
//         loaded twice and stored once: 12 bytes instead of 16. This is reduce-then-scan.
// watch   The elements are still loaded twice, and kernels with little work run in between.
// needs   nothing new.
// source  Y. Dotsenko et al., "Fast Scan Algorithms on Graphics Processors" (2008).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"
#include "solutions/scan/parts/rows.hpp"

constexpr int block_size = 256;
constexpr int rows = 8;  // vectors of a thread
constexpr int row_elements = 4 * 32;
constexpr int tile = 4 * rows * block_size;

// totals[b] = the sum of tile b.
__global__ void add_tiles(const unsigned* in, unsigned* totals, int n) {
  __shared__ unsigned sums[block_size / 32];
  unsigned sum = 0;
  unsigned total = 0;
  //> todo: add up the tile, with neighbouring threads on neighbouring vectors.
  const unsigned first = blockIdx.x * tile + 4 * threadIdx.x;
  for (int k = 0; k < rows; ++k) {
    const uint4 v = load_vector(in, first + 4 * k * block_size, n);
    sum += v.x + v.y + v.z + v.w;
  }
  block_scan(sum, sums, total);
  //<
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// Scans all tiles. through[b] is the sum of tiles 0 to b.
__global__ void scan_tiles(const unsigned* in, unsigned* out, const unsigned* through, int n) {
  __shared__ unsigned sums[block_size / 32];
  const int lane = threadIdx.x % 32;
  const unsigned before = blockIdx.x > 0 ? through[blockIdx.x - 1] : 0;
  const unsigned i = blockIdx.x * tile + threadIdx.x / 32 * (rows * row_elements) + 4 * lane;
  uint4 v[rows];
  for (int k = 0; k < rows; ++k) v[k] = load_vector(in, i + k * row_elements, n);
  const unsigned sum = scan_rows(v);
  unsigned total = 0;
  const unsigned earlier = before + block_scan(lane == 0 ? sum : 0, sums, total) - sum;
  for (int k = 0; k < rows; ++k)
    store_vector(out, i + k * row_elements, add_to_all(v[k], earlier), n);
}

void scan(const unsigned* in, unsigned* out, unsigned* scratch, int n) {
  const int tiles = ceil_div(n, tile);
  unsigned* const totals = scratch;
  if (tiles > 1) {
    //> todo: add up the tiles, and scan their sums in place.
    add_tiles<<<tiles, block_size>>>(in, totals, n);
    check(cudaGetLastError());
    scan(totals, totals, scratch + tiles, tiles);
    //<
  }
  scan_tiles<<<tiles, block_size>>>(in, out, totals, n);
  check(cudaGetLastError());
}
