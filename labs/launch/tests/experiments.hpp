// What the experiments of the launch lab are run with: for the program that launches them
// (experiments.cu) and for the test that counts (experiments_test.cpp).
//
// idea    A profile tells launches of a kernel apart by their grids, so every launch has a grid of
//         its own.
#pragma once

namespace stepwise::launch_experiments {

inline constexpr int block = 256;  // threads, in all experiments
inline constexpr int furthest_offset = 32, longest_stride = 32, most_ways = 32;

// Whole blocks: every warp is full, and rotated by `offset` it still is.
constexpr int count_for_offset(int offset) { return block * (16 + offset); }

// Whole pieces of 32 x stride elements, in whole blocks.
constexpr int count_for_stride(int stride) { return block * 4 * stride; }

// Enough warps for averages over the data. ways is 1, 2, 4, ... 32; by is 0, 1 or 2.
constexpr int count_for_ways(int ways, int by) { return block * (64 + 3 * ways + by); }

inline constexpr int most_elements = block * 4 * longest_stride;
static_assert(most_elements >= count_for_offset(furthest_offset));
inline constexpr int elements_in_file = count_for_ways(most_ways, 2);
static_assert(elements_in_file >= most_elements);

}  // namespace stepwise::launch_experiments
