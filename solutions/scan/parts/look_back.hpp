// Decoupled look-back: what blocks publish about their tiles, and the sum of all tiles before one.
#pragma once

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
  for (int other = tile - 1 - lane; true; other -= 32) {
    const tile_state state = other >= 0 ? wait_for(&states[other]) : has_through;
    const unsigned ends = __ballot_sync(0xffffffff, state >= has_through);
    if (ends == 0 || lane < __ffs(ends)) sum += unsigned(state);  // up to the nearest such lane
    if (ends != 0) break;
  }
  return __reduce_add_sync(0xffffffff, sum);
}
