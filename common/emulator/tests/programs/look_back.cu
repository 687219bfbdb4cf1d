// An inclusive scan in one launch by decoupled look-back: a block publishes the sum of its tile,
// then walks back over the blocks before it until one has published its whole prefix, and waits
// where a block has published nothing yet. source  Merrill and Garland, "Single-pass Parallel
// Prefix Scan with Decoupled Look-back", 2016.
#include "common/emulator/tests/programs/program.hpp"

constexpr int tile = 128;

enum state : unsigned { empty = 0, tile_sum = 1, prefix = 2 };

__device__ unsigned next_tile = 0;

// State in the high word, value in the low one: one 64-bit store publishes both.
__device__ unsigned long long pack(state s, int value) {
  return static_cast<unsigned long long>(s) << 32 | static_cast<unsigned>(value);
}

__device__ int sum_before(volatile unsigned long long* published, int my_tile) {
  int sum = 0;
  for (int t = my_tile - 1; t >= 0; --t) {
    unsigned long long word;
    do {
      word = published[t];
    } while (word >> 32 == empty);
    sum += static_cast<int>(static_cast<unsigned>(word));
    if (word >> 32 == prefix) break;
  }
  return sum;
}

__global__ void scan(const int* in, int* out, int n, volatile unsigned long long* published) {
  __shared__ int sums[tile];
  __shared__ int my_tile, before;
  // Tiles are drawn, not numbered by block: a drawn tile's predecessors have all started.
  if (threadIdx.x == 0) my_tile = atomicAdd(&next_tile, 1u);
  __syncthreads();
  const int i = my_tile * tile + threadIdx.x;
  sums[threadIdx.x] = i < n ? in[i] : 0;
  for (int step = 1; step < tile; step *= 2) {
    __syncthreads();
    const int left = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += left;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const int total = sums[tile - 1];
    if (my_tile > 0) published[my_tile] = pack(tile_sum, total);
    before = sum_before(published, my_tile);
    published[my_tile] = pack(prefix, before + total);
  }
  __syncthreads();
  if (i < n) out[i] = before + sums[threadIdx.x];
}

int main() {
  constexpr int n = 50000;
  constexpr int tiles = (n + tile - 1) / tile;
  std::vector<int> in(n), expected(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = i * 7 % 13 - 5;
    expected[i] = sum += in[i];
  }
  device_array<int> values(in), out(n);
  device_array<unsigned long long> published(tiles);
  scan<<<tiles, tile>>>(values.get(), out.get(), n, published.get());
  finish();
  return compare("look_back", out.values(), expected);
}
