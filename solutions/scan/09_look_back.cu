// scan 09_look_back: a block publishes its total at once, and adds up the totals before it itself.
//
// idea    The block before may still wait for others, but its total is known as soon as it has
//         added up its tile. One warp reads what 32 earlier tiles have published, in one load. It
//         goes back, 32 tiles at a time, until a tile knows the sum of everything up to itself.
// watch   One 64-bit word holds the kind and the sum, and is loaded and stored at once. So no
//         other memory has to be ordered before it, and neither side needs a fence.
// needs   The words and the counter must be 0 before the kernel starts. Compute capability 8.0 for
//         __reduce_add_sync().
// source  D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back"
//         (2016).
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"
#include "solutions/scan/parts/rows.hpp"

constexpr int block_size = 256;
constexpr int rows = 8;  // vectors of a thread
constexpr int row_elements = 4 * 32;
constexpr int tile = 4 * rows * block_size;

// What is known about a tile, in one word: a kind and a sum of 32 bits. At first, the word is 0.
using tile_state = unsigned long long;
constexpr tile_state has_total = 1ull << 32;    // the sum of this tile alone
constexpr tile_state has_through = 2ull << 32;  // the sum of all tiles up to this one

__device__ void publish(tile_state* state, tile_state kind, unsigned sum) {
  __nv_atomic_store_n(state, kind | sum, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

// Waits until something is known about a tile.
__device__ tile_state wait_for(tile_state* state) {
  tile_state now = 0;
  while (now == 0) now = __nv_atomic_load_n(state, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  return now;
}

// The sum of all tiles before the given one. All lanes of a warp take part.
__device__ unsigned look_back(tile_state* states, int tile) {
  const int lane = threadIdx.x % 32;
  unsigned sum = 0;
  //> todo: add up totals, 32 tiles at a time, back to a tile whose sum includes all before it.
  for (int other = tile - 1 - lane; true; other -= 32) {
    const tile_state state = other >= 0 ? wait_for(&states[other]) : has_through;
    const unsigned ends = __ballot_sync(0xffffffff, state >= has_through);
    if (ends == 0 || lane < __ffs(ends)) sum += unsigned(state);  // up to the nearest such lane
    if (ends != 0) break;
  }
  //<
  return __reduce_add_sync(0xffffffff, sum);
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
  for (int k = 0; k < rows; ++k) v[k] = load_vector(in, i + k * row_elements, n);
  const unsigned sum = scan_rows(v);
  unsigned total = 0;
  const unsigned earlier = block_scan(lane == 0 ? sum : 0, sums, total) - sum;
  //> todo: publish the total, look back, and publish the sum of all tiles up to this one.
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) publish(&states[own_tile], has_total, total);
    const unsigned sum_before = look_back(states, own_tile);
    if (threadIdx.x == 0) {
      publish(&states[own_tile], has_through, sum_before + total);
      before = sum_before;
    }
  }
  __syncthreads();  // before is known
  //<
  for (int k = 0; k < rows; ++k)
    store_vector(out, i + k * row_elements, add_to_all(v[k], before + earlier), n);
}

void scan(const unsigned* in, unsigned* out, unsigned* scratch, int n) {
  const int tiles = ceil_div(n, tile);
  tile_state* const states = reinterpret_cast<tile_state*>(scratch);
  unsigned* const next_tile = scratch + 2 * tiles;  // after the states
  check(cudaMemsetAsync(scratch, 0, (2 * tiles + 1) * sizeof(unsigned)));
  scan_tiles<<<tiles, block_size>>>(in, out, next_tile, states, n);
  check(cudaGetLastError());
}
