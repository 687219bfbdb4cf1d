// The costs of a multiprocessor's parts: cycles between instructions, latencies, and its shares of
// the memory that all multiprocessors use.
//
// idea    A sub-partition issues one warp instruction per cycle to its pipes. A pipe is busy for an
//         interval, and its result is ready after a latency. Loads and stores, exchanges and
//         accesses to shared memory go through the multiprocessor's L1/shared-memory pipe
//         (`l1_pipe` in the code). L2 and memory give each multiprocessor its share.
// watch   Every number comes from a microbenchmark (common/gpus/*.measured.jsonl) or, if it was not
//         measured, from published tables; never from a lab's kernel.
// Tested by tests/time_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "common/device/gpu.hpp"
#include "common/emulator/time/async_costs.hpp"

namespace stepwise::emulator {

// The unit that executes an instruction, finer than ptx::pipe where rates differ.
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

// The 10th and 90th percentiles, relative to the median.
struct spread {
  double p10 = 1, p90 = 1;
};

struct gpu_costs {
  double ghz = 1;
  unsigned multiprocessors = 1;
  unsigned partitions = 4;  // sub-partitions, with a scheduler each
  unit_cost of[units];      // of a sub-partition; exchange, load_store: of the multiprocessor

  double shared_latency = 23, l1_latency = 32, l2_latency = 280, dram_latency = 650;  // cycles
  spread dram_spread;     // of the latency; the wait in a queue is added to it
  double l1_bytes = 128;  // per cycle and multiprocessor
  // Cycles of the L1/shared-memory pipe: per wavefront of several, and for a single wavefront.
  double load_wavefront = 1, store_wavefront = 1, one_wavefront = 1;
  // Cycles of the same pipe for a request to global memory: per line of 128 bytes in the tag bank
  // with the most requested lines, and per word in the bank with the most requested words.
  double line_cycles = 1, bank_cycles = 1;
  // L1 looks up a line in one of four banks: the exclusive or of these over the bits of its number.
  std::array<std::uint8_t, 20> tag_bank_of_bit = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2,
                                                  1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  // Per cycle of a multiprocessor's clock, for the whole GPU.
  double l2_bytes = 4000, l2_write_bytes = 2000, dram_read_bytes = 2000, dram_few_bytes = 2000,
         dram_write_bytes = 2000;
  double dram_peak_bytes = 2400;  // by the memory's clock and width, never reached
  // The factor by which writes to memory take longer if every block is resident and has an equal
  // part of the work. The reason is that some blocks then finish long before others.
  double resident_write_factor = 1;
  // The first blocks, by index, of the multiprocessor that gets its blocks first while all are
  // resident. It is in a smaller group, because groups are served alternately. Empty: unknown.
  std::vector<std::uint64_t> early_blocks;
  double l2_slices = 64;             // L2 has one for every 64 bits of the memory bus
  double l2_bytes_of_one = 64;       // the most that one multiprocessor takes, per cycle
  double l2_write_sectors = 100;     // partially written sectors
  double l2_write_lines = 100;       // lines in which stores partially write one sector or more
  double atomic_lanes = 250;         // at different addresses, per cycle, for the whole GPU
  double same_address_lanes = 0.7;   // at one address, per cycle
  double same_address_floats = 0.3;  // likewise, for sums of floats
  double same_line_sectors = 0.9;    // sectors of one line, per cycle
  double barrier_latency = 15, barrier_per_warp = 2;
  double block_starts = 0.84;  // per cycle, for the whole GPU
  double branch = 6;           // cycles until a warp that branches issues again
  double predicate = 17;       // from a comparison to the branch that waits for it
  double turnover = 340, turnover_per_warp = 5;  // from a block's end to the next block's start
  // Additional cycles between the blocks if the first one ended with a store.
  double store_wait = 80, store_wait_per_warp = 2.7;
  double first_instruction = 4;  // extra cycles of an instruction's first execution
  double dirty_bytes = 0;        // bytes in L2 that were written and may still not be in memory
  double dirty_at_rest = 0;      // the part of these bytes that stays once nothing runs
  double launch_us = 2.75;       // an empty kernel
  double next_launch_us = 1.3;   // each further kernel
  tensor_costs tensor;
  async_costs async;
  // How many clusters of 2, 4, 8 and 16 blocks fit on the GPU, with one block per multiprocessor.
  std::array<unsigned, 4> clusters = {};  // 0: unknown

  // The costs when the multiprocessors run at another clock, and L2 and memory keep theirs.
  gpu_costs at_clock(double other_ghz) const;
  // The number of multiprocessors that a launch can use if its clusters have this many blocks.
  unsigned multiprocessors_of(unsigned blocks) const;
};

// Cycles from the issue of an instruction until its result can be used. The result is ready after
// the last of its `slots` machine instructions.
double result_latency(const gpu_costs& costs, unit on, double slots);

// The bank, 0 to tag_banks - 1, where L1 looks up this line of 128 bytes.
inline constexpr unsigned tag_banks = 4;
unsigned tag_bank(const gpu_costs& costs, std::uint64_t line);

// The number of the lines line(0) ... line(count - 1) that are in the bank with the most of them.
template <class Line>
unsigned most_in_a_tag_bank(const gpu_costs& costs, unsigned count, Line line) {
  unsigned of_bank[tag_banks] = {};
  for (unsigned n = 0; n < count; ++n) ++of_bank[tag_bank(costs, line(n))];
  return *std::max_element(std::begin(of_bank), std::end(of_bank));
}

// From the GPU's description, its measurements if there are any, and tables by compute capability.
gpu_costs costs_of(const gpu& model);

}  // namespace stepwise::emulator
