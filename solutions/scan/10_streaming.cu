// scan 10_streaming: loads and stores say that their data is used only once.
//
// idea    An element is loaded once, and its sum is stored once. Yet both enter the L2 cache and
//         push out other lines. __ldcs() and __stcs() mark a line as the first to be evicted, so
//         the cache keeps the states of the tiles instead, and writes lines back earlier.
// watch   A block that waits for the sums before its tile has no loads in flight.
// needs   nothing new.
// source  CUDA C++ Programming Guide, "Load Functions Using Cache Hints".
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"
#include "solutions/scan/parts/look_back.hpp"
#include "solutions/scan/parts/rows.hpp"

constexpr int block_size = 256;
constexpr int rows = 8;  // vectors of a thread
constexpr int row_elements = 4 * 32;
constexpr int tile = 4 * rows * block_size;

// Like load_vector() and store_vector(), with hints that the vector is used only once.
__device__ uint4 load_streaming(const unsigned* in, unsigned i, int n) {
  uint4 v = {0, 0, 0, 0};
  //> todo: load the vector; if it is a whole one, with the hint that it is used once.
  v = i + 3 < n ? __ldcs(reinterpret_cast<const uint4*>(in + i)) : load_vector(in, i, n);
  //<
  return v;
}

__device__ void store_streaming(unsigned* out, unsigned i, uint4 v, int n) {
  if (i + 3 < n)
    __stcs(reinterpret_cast<uint4*>(out + i), v);
  else
    store_vector(out, i, v, n);
}

// Scans all tiles. What is known about tile t is in states[t].
__global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* next_tile,
                           tile_state* states, int n) {
  __shared__ unsigned sums[block_size / 32];
  __shared__ unsigned own_tile;
  __shared__ unsigned before;  // the sum of all tiles before this one
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) own_tile = atomicAdd(next_tile, 1);
  __syncthreads();
  const unsigned i = own_tile * tile + threadIdx.x / 32 * (rows * row_elements) + 4 * lane;
  uint4 v[rows];
  for (int k = 0; k < rows; ++k) v[k] = load_streaming(in, i + k * row_elements, n);
  const unsigned sum = scan_rows(v);
  unsigned total = 0;
  const unsigned earlier = block_scan(lane == 0 ? sum : 0, sums, total) - sum;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) publish(&states[own_tile], has_total, total);
    const unsigned sum_before = look_back(states, own_tile);
    if (threadIdx.x == 0) {
      publish(&states[own_tile], has_through, sum_before + total);
      before = sum_before;
    }
  }
  __syncthreads();  // before is known
  for (int k = 0; k < rows; ++k)
    store_streaming(out, i + k * row_elements, add_to_all(v[k], before + earlier), n);
}

void scan(const unsigned* in, unsigned* out, unsigned* scratch, int n) {
  const int tiles = ceil_div(n, tile);
  tile_state* const states = reinterpret_cast<tile_state*>(scratch);
  unsigned* const next_tile = scratch + 2 * tiles;  // after the states
  check(cudaMemsetAsync(scratch, 0, (2 * tiles + 1) * sizeof(unsigned)));
  scan_tiles<<<tiles, block_size>>>(in, out, next_tile, states, n);
  check(cudaGetLastError());
}
