// The work of the warps of some blocks, in order: straight runs of instructions, and the cost of
// each of their accesses.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace stepwise::emulator {

enum class bulk_use : std::uint8_t { load, store, reduction };

// An arrival at an mbarrier, bytes that a copy counts there, or a wait for one of its phases.
struct recorded_signal {
  std::uint32_t barrier = 0;  // its offset in the block's shared memory
  std::uint32_t phase = 0;    // counted since the mbarrier was initialised
  bool waits = false;
  // The mbarrier is in another block of the cluster. We assume that all blocks of a cluster do the
  // same work, so another block sends the same signal to this block.
  bool is_remote = false;
};

// An access of a warp, as the profiler counted it.
struct recorded_access {
  std::uint32_t ordinal = 0;     // of the instruction
  std::uint32_t site = 0;        // of the program; it determines the hit rates
  std::uint16_t sectors = 0;     // global and local memory
  std::uint16_t wavefronts = 0;  // of the banks, including those of L1
  // The number of lines of 128 bytes. For shared memory: the number of sectors that other blocks
  // send or receive.
  std::uint8_t lines = 0;
  std::uint8_t tag_passes = 0;  // of those lines, the ones in L1's tag bank that has the most
  std::uint8_t lanes = 0;
  std::uint8_t ideal_sectors = 0, ideal_wavefronts = 0;
  bulk_use use = bulk_use::load;  // of a bulk copy's access to global memory
  std::uint8_t known_lines = 0;   // of those, the lines that L1 looks up or keeps
  bool is_local = false;          // in local memory
  bool is_signal = false;         // not an access; first_line is an index into warp_trace::signals
  std::uint32_t first_line = 0;   // the first of these lines, into warp_trace::lines
};

// A line of 128 bytes, and a mask of its four sectors (bits 0 ... 3).
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
  std::vector<recorded_signal> signals;
};

struct block_trace {
  std::uint64_t index = 0;
  std::vector<warp_trace> warps;
  std::uint64_t instructions = 0;  // of all warps, recorded or not
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

// Records blocks as they run. Each warp has the same limit, chosen so that all warps that are
// resident at a time have room; work beyond it is only counted.
class recorder {
 public:
  static constexpr std::size_t most_records = 6'000'000;  // runs, accesses, and lines / 4

  void begin(unsigned warps, unsigned resident);
  // Whether accesses and runs from now on belong to a recorded block.
  bool is_on() const { return now_ != nullptr; }
  void begin_block(std::uint64_t index);
  void switch_to(std::uint64_t index);  // records nothing if the block was not begun
  void access(const recorded_access& a, std::span<const recorded_line> lines);
  void signal(std::uint32_t ordinal, const recorded_signal& s);
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end);
  void forget_run();  // drops the accesses and signals of the current run

  const launch_trace& trace() const { return trace_; }
  // Moves these blocks out of the trace into a separate one.
  launch_trace take(std::span<const std::uint64_t> blocks);

 private:
  std::uint32_t run_of(std::uint32_t first, std::uint32_t end);

  launch_trace trace_;
  unsigned warps_ = 0;
  std::size_t most_of_warp_ = 0;
  block_trace* now_ = nullptr;
  std::vector<recorded_access> pending_;  // of the current run
  std::vector<recorded_line> pending_lines_;
  std::vector<recorded_signal> pending_signals_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint64_t last_key_ = ~std::uint64_t{0};
  std::uint32_t last_run_ = 0;
};

}  // namespace stepwise::emulator
