// scan, correct: a warp looks back over tiles whose flags and values are separate words.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"

constexpr int block_size = 256;
constexpr unsigned has_total = 1;
constexpr unsigned has_through = 2;

// What is known about a tile: first its total, and then the sum of all tiles up to it.
struct tile_state {
  unsigned kind;
  unsigned total;
  unsigned through;
  unsigned unused;
};

__device__ void publish(tile_state* state, unsigned kind) {
  __nv_atomic_store_n(&state->kind, kind, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}

__device__ unsigned kind_of(tile_state* state) {
  return __nv_atomic_load_n(&state->kind, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
}

__device__ unsigned look_back(tile_state* states, int tile) {
  const int lane = threadIdx.x % 32;
  unsigned sum = 0;
  for (int other = tile - 1 - lane; true; other -= 32) {
    unsigned kind = has_through;
    unsigned value = 0;
    if (other >= 0) {
      do {
        kind = kind_of(&states[other]);
      } while (kind == 0);
      value = kind == has_through ? states[other].through : states[other].total;
    }
    const unsigned ends = __ballot_sync(0xffffffff, kind == has_through);
    if (ends == 0 || lane < __ffs(ends)) sum += value;
    if (ends != 0) break;
  }
  return __reduce_add_sync(0xffffffff, sum);
}

__global__ void scan_tiles(const unsigned* in, unsigned* out, unsigned* next_tile,
                           tile_state* states, int n) {
  __shared__ unsigned sums[block_size];
  __shared__ unsigned tile;
  __shared__ unsigned before;
  const int tid = threadIdx.x;
  if (tid == 0) tile = atomicAdd(next_tile, 1);
  __syncthreads();
  const unsigned i = tile * block_size + tid;
  sums[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int distance = 1; distance < block_size; distance *= 2) {
    const unsigned left = tid >= distance ? sums[tid - distance] : 0;
    __syncthreads();
    sums[tid] += left;
    __syncthreads();
  }
  const unsigned total = sums[block_size - 1];
  if (tid == 0) {
    states[tile].total = total;
    publish(&states[tile], has_total);
  }
  if (tid < 32) {
    const unsigned earlier = look_back(states, tile);
    if (tid == 0) {
      before = earlier;
      states[tile].through = earlier + total;
      publish(&states[tile], has_through);
    }
  }
  __syncthreads();
  if (i < n) out[i] = before + sums[tid];
}

void scan(const unsigned* in, unsigned* out, unsigned* scratch, int n) {
  const int tiles = ceil_div(n, block_size);
  tile_state* const states = reinterpret_cast<tile_state*>(scratch);
  unsigned* const next_tile = scratch + 4 * tiles;
  check(cudaMemsetAsync(scratch, 0, (4 * tiles + 1) * sizeof(unsigned)));
  scan_tiles<<<tiles, block_size>>>(in, out, next_tile, states, n);
  check(cudaGetLastError());
}
