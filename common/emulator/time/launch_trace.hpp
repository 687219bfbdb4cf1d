// What the warps of some blocks did, in order: straight runs of instructions, and what each of
// their accesses cost.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace stepwise::emulator {

// An access of a warp, as the profiler counted it.
struct recorded_access {
  std::uint32_t ordinal = 0;     // of the instruction
  std::uint32_t site = 0;        // of the program; whose share of hits it has
  std::uint16_t sectors = 0;     // global and local memory
  std::uint16_t wavefronts = 0;  // of the banks, those of L1 among them
  std::uint8_t lines = 0;        // of 128 bytes
  std::uint8_t tag_turns = 0;  // of those, the ones in the bank of L1's tags that has most of them
  std::uint8_t lanes = 0;
  std::uint8_t ideal_sectors = 0, ideal_wavefronts = 0;
  std::uint8_t known_lines = 0;  // of those, the ones that L1 looks up or keeps
  bool is_local = false;         // in local memory
  std::uint32_t first_line = 0;  // of them, into warp_trace::lines
};

// A line of 128 bytes, and which of its four sectors (bits 0 ... 3) are meant.
using recorded_line = std::uint64_t;
constexpr recorded_line line_record(std::uint64_t line, std::uint32_t sectors) {
  return line << 4 | sectors;
}
constexpr std::uint64_t line_of(recorded_line r) { return r >> 4; }
constexpr std::uint32_t sectors_of(recorded_line r) { return static_cast<std::uint32_t>(r & 0xf); }

struct warp_trace {
  std::size_t records() const { return pieces.size() + accesses.size() + lines.size() / 4; }

  struct piece {
    std::uint32_t run = 0;  // into launch_trace::runs
    std::uint32_t accesses = 0;
  };
  std::vector<piece> pieces;
  std::vector<recorded_access> accesses;
  std::vector<recorded_line> lines;  // of the accesses, in their order
};

struct block_trace {
  std::uint64_t index = 0;
  std::vector<warp_trace> warps;
  std::uint64_t instructions = 0;  // of all warps, those that were not recorded among them
  std::uint64_t recorded = 0;
  // The sum over all accesses: sectors of global and local memory, wavefronts of shared memory.
  std::uint64_t sectors = 0, shared_wavefronts = 0;
};

struct launch_trace {
  struct run {
    std::uint32_t first = 0, end = 0;  // ordinals
  };
  std::vector<run> runs;
  std::vector<block_trace> blocks;
};

// Records blocks as they run. Of each warp only so much that all of those which are resident at a
// time have as much; what is beyond it is counted.
class recorder {
 public:
  static constexpr std::size_t most_records = 6'000'000;  // runs, accesses, and lines by fours

  void begin(unsigned warps, unsigned resident);
  // Whether accesses and runs from now on are of a block that is recorded.
  bool is_on() const { return now_ != nullptr; }
  void begin_block(std::uint64_t index);
  void turn_to(std::uint64_t index);  // one that was begun, or another: then nothing is recorded
  void access(const recorded_access& a, std::span<const recorded_line> lines);
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end);

  const launch_trace& trace() const { return trace_; }
  // Takes these blocks out of the trace, into one of their own.
  launch_trace take(std::span<const std::uint64_t> blocks);

 private:
  std::uint32_t run_of(std::uint32_t first, std::uint32_t end);

  launch_trace trace_;
  unsigned warps_ = 0;
  std::size_t most_of_warp_ = 0;
  block_trace* now_ = nullptr;
  std::vector<recorded_access> pending_;  // of the current run
  std::vector<recorded_line> pending_lines_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint64_t last_key_ = ~std::uint64_t{0};
  std::uint32_t last_run_ = 0;
};

}  // namespace stepwise::emulator
