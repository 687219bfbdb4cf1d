// The arguments of the launch lab's experiments, for the program that launches them
// (experiments.cu) and for the test that counts (experiments_test.cpp).
//
// idea    A profile distinguishes launches of a kernel by their grids, so every launch has a
//         different grid.
#pragma once

namespace stepwise::launch_experiments {

inline constexpr int block = 256;  // threads per block, in all experiments
inline constexpr int furthest_offset = 32, longest_stride = 32, most_ways = 32;
inline constexpr int most_blocks = 3;        // per multiprocessor, in a grid with a stride
inline constexpr int multiprocessors = 132;  // of the emulated H200

// Whole blocks. Every warp is full, even after a rotation by `offset`.
constexpr int count_for_offset(int offset) { return block * (16 + offset); }

// Whole pieces of 32 x stride elements, in whole blocks.
constexpr int count_for_stride(int stride) { return block * 4 * stride; }

// Enough warps for averages over the data. `ways` is 1, 2, 4, ... 32, and `by` is 0, 1 or 2.
constexpr int count_for_ways(int ways, int by) { return block * (64 + 3 * ways + by); }

// Two rounds for every block, with `blocks` blocks per multiprocessor.
constexpr int count_for_blocks(int blocks) { return 2 * blocks * multiprocessors * block * 4; }

inline constexpr int elements_in_file = count_for_blocks(most_blocks);
static_assert(elements_in_file >= count_for_offset(furthest_offset));
static_assert(elements_in_file >= count_for_stride(longest_stride));
static_assert(elements_in_file >= count_for_ways(most_ways, 2));

}  // namespace stepwise::launch_experiments
