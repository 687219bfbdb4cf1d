// Divides the cells of a tile among the threads of a block, for 10_blur_and_edges and 11_fused,
// which go over several tiles of different sizes, one after the other.
#pragma once

// Calls body(j, i) for each of `high` rows of `wide` cells, divided among the `threads` threads of
// a one-dimensional block, and waits for the block.
template <int high, int wide, int threads, class Body>
__device__ void for_each_cell(const Body& body) {
  for (int t = threadIdx.x; t < high * wide; t += threads) body(t / wide, t % wide);
  __syncthreads();
}
