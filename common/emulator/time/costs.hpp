// What a multiprocessor's parts cost on a GPU: cycles between instructions, latencies, shares of
// the memory that all multiprocessors use.
//
// idea    A sub-partition issues one warp instruction per cycle to its pipes. A pipe is busy for an
//         interval, a result is there after a latency. Loads and stores, exchanges and shared
//         memory go through one port of the multiprocessor; L2 and memory give each multiprocessor
//         its share.
// watch   Every number comes from a microbenchmark (common/gpus/*.measured.jsonl) or, where nothing
//         was measured, from published tables; never from a lab's kernel.
// Tested by tests/time_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "common/device/gpu.hpp"

namespace stepwise::emulator {

// What executes an instruction, finer than ptx::pipe where rates differ.
enum class unit : std::uint8_t {
  fma,       // f32 arithmetic
  alu,       // logic, shifts, comparisons, minima: one of the two integer pipes
  integer,   // additions and moves: either pipe
  multiply,  // integer products
  fp64,
  half,
  conversion,
  special,  // special functions, population counts
  tensor,
  vote,
  exchange,  // shuffles
  reduce,    // redux
  load_store,
  branch,
  none  // waits only: barriers, fences, exits
};
inline constexpr int units = static_cast<int>(unit::none) + 1;

struct unit_cost {
  double interval = 1;  // cycles until the pipe takes the next warp instruction
  double latency = 4;   // cycles until the result can be used
};

// Shares of the median below which 10 and 90 in a hundred lie.
struct spread {
  double p10 = 1, p90 = 1;
};

struct gpu_costs {
  double ghz = 1;
  unsigned multiprocessors = 1;
  unsigned partitions = 4;  // sub-partitions, with a scheduler each
  unit_cost of[units];      // of a sub-partition; exchange, load_store: of the multiprocessor

  double shared_latency = 23, l1_latency = 32, l2_latency = 280, dram_latency = 650;  // cycles
  spread
      dram_spread;  // of the latency: after a queue, a load is as much later as the queue is long
  double l1_bytes = 128;  // per cycle and multiprocessor
  // Cycles of shared memory's port: for each of several wavefronts, and for one alone.
  double load_wavefront = 1, store_wavefront = 1, one_wavefront = 1;
  // Cycles of the port for a request to global memory: for each line of 128 bytes of the bank of
  // tags from which it requests most lines, and for each word of the bank from which it requests
  // most words.
  double line_cycles = 1, bank_cycles = 1;
  // L1 looks up a line in one of four banks: the exclusive or of these, by the bits of its number.
  std::array<std::uint8_t, 20> tag_bank_of_bit = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2,
                                                  1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  // Per cycle of a multiprocessor's clock, for the whole GPU.
  double l2_bytes = 4000, l2_write_bytes = 2000, dram_read_bytes = 2000, dram_few_bytes = 2000,
         dram_write_bytes = 2000;
  double dram_peak_bytes = 2400;  // of the memory's clock and width, which nothing reaches
  // Where every block is resident and has its share, some are done long before others: how much
  // longer writes to memory take for it.
  double equal_shares_write = 1;
  // The first blocks, by index, of the multiprocessor that gets its blocks first while all are
  // resident: one of a smaller group, as groups have their turns. Empty: unknown.
  std::vector<std::uint64_t> early_blocks;
  double l2_bytes_of_one = 64;       // the most that one multiprocessor takes, per cycle
  double l2_write_sectors = 100;     // that are written in part
  double l2_write_lines = 100;       // of which stores write one sector or more, in part
  double atomic_lanes = 250;         // at addresses of their own, per cycle, for the whole GPU
  double same_address_lanes = 0.7;   // at one address, per cycle
  double same_address_floats = 0.3;  // the same of sums of floats
  double same_line_turns = 0.9;      // of sectors of one line, per cycle
  double barrier_latency = 15, barrier_per_warp = 2;
  double block_starts = 0.84;  // per cycle, for the whole GPU
  double branch = 6;           // cycles until a warp that branches issues again
  double predicate = 17;       // from a comparison to the branch that waits for it
  double turnover = 340, turnover_per_warp = 5;  // from a block's end to what the next one does
  // How much longer that takes if a store was the last thing that the block did.
  double store_wait = 80, store_wait_per_warp = 2.7;
  double first_instruction = 4;  // cycles more of each that is executed for the first time
  double dirty_bytes = 0;        // of L2: what was written last and has not gone to memory
  double dirty_at_rest = 0;      // of that, what stays once nothing runs
  double launch_us = 2.75;       // an empty kernel
  double next_launch_us = 1.3;   // each further one
};

// From its issue until the result of an instruction can be used that takes `slots` machine
// instructions: it is there after the last one.
double result_latency(const gpu_costs& costs, unit on, double slots);

// The bank, below tag_banks, in which L1 looks up this line of 128 bytes.
inline constexpr unsigned tag_banks = 4;
unsigned tag_bank(const gpu_costs& costs, std::uint64_t line);

// Of lines line(0) ... line(count - 1), those in the bank that most of them share.
template <class Line>
unsigned most_in_a_tag_bank(const gpu_costs& costs, unsigned count, Line line) {
  unsigned of_bank[tag_banks] = {};
  for (unsigned n = 0; n < count; ++n) ++of_bank[tag_bank(costs, line(n))];
  return *std::max_element(std::begin(of_bank), std::end(of_bank));
}

// From the description, what was measured of the GPU if it was, and tables by compute capability.
gpu_costs costs_of(const gpu& model);

}  // namespace stepwise::emulator
