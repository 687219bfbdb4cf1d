// scan 12_one_tile: a tile that is alone needs no number, no state and no memset.
//
// idea    8192 elements or fewer take one block, which waits for no other. Setting the states to 0
// is
//         an operation of its own before the kernel, and for so few elements, every operation
//         counts.
// watch   The start of a block, its loads, a scan and its stores are all that remains.
// needs   nothing new.
// source  reduction 11_one_block.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"
#include "solutions/scan/parts/look_back.hpp"
#include "solutions/scan/parts/rows.hpp"
#include "solutions/scan/parts/streaming.hpp"

constexpr int block_size = 256;
constexpr int rows = 8;  // vectors of a thread
constexpr int row_elements = 4 * 32;
constexpr int tile = 4 * rows * block_size;
constexpr int line_elements = 32;  // a line of the L2 cache has 128 bytes
constexpr int tiles_ahead = 2;     // per multiprocessor; more would not fit into L2
static_assert(tile == line_elements * block_size);  // a line for each thread

// Scans all tiles. What is known about tile t is in states[t].
__global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* next_tile,
                           tile_state* states, int ahead, int n) {
  __shared__ unsigned sums[block_size / 32];
  __shared__ unsigned own_tile;
  __shared__ unsigned before;  // the sum of all tiles before this one
  const int lane = threadIdx.x % 32;
  //> todo: take a number only if there are several tiles.
  if (threadIdx.x == 0) own_tile = gridDim.x > 1 ? atomicAdd(next_tile, 1) : 0;
  //<
  __syncthreads();
  const unsigned i = own_tile * tile + threadIdx.x / 32 * (rows * row_elements) + 4 * lane;
  uint4 v[rows];
  const unsigned later = (own_tile + ahead) * tile + line_elements * threadIdx.x;
  if (later < n) asm volatile("prefetch.global.L2 [%0];" ::"l"(in + later));
  for (int k = 0; k < rows; ++k) v[k] = load_streaming(in, i + k * row_elements, n);
  const unsigned sum = scan_rows(v);
  unsigned total = 0;
  const unsigned earlier = block_scan(lane == 0 ? sum : 0, sums, total) - sum;
  if (threadIdx.x == 0) before = 0;
  if (threadIdx.x < 32 && gridDim.x > 1) {
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
  if (tiles > 1) check(cudaMemsetAsync(scratch, 0, (2 * tiles + 1) * sizeof(unsigned)));
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int ahead = tiles_ahead * multiprocessors;
  scan_tiles<<<tiles, block_size>>>(in, out, next_tile, states, ahead, n);
  check(cudaGetLastError());
}
