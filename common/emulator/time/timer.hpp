// The time of a launch: records data while blocks run, then simulates a multiprocessor.
//
// idea    The blocks of one multiprocessor, from the middle of the grid, are recorded. If the
//         launch may be sampled, only a wave of the other blocks runs, and only the beginning of
//         each block: enough for the caches to show which accesses hit where.
// watch   The results of a sampled launch are incomplete. A kernel whose blocks may wait for each
//         other is never sampled, nor is a small kernel without loops, because other kernels may
//         need its results.
// Tested by tests/timer_test.cpp and, through its results, by the tests "lab times" and "lab
// profile".
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/emulator/machine/observer.hpp"
#include "common/emulator/time/block_work.hpp"
#include "common/emulator/time/code_costs.hpp"
#include "common/emulator/time/launch_trace.hpp"
#include "common/emulator/time/multiprocessor.hpp"
#include "common/report/timing.hpp"

namespace stepwise::emulator {

// The caches' counts for a site's sectors, in the blocks that were run.
struct site_traffic {
  bool is_store = false;
  double sectors = 0, l2_sectors = 0;
  double shared_sectors = 0;  // also copied by other multiprocessors
  double dram_sectors = 0;    // of loads and atomics
  double dram_bytes = 32;     // transferred per sector of dram_sectors
  double bytes = 0;           // requested by lanes
};

struct launch_time {
  double us = 0;                       // from its first block's start to its last one's end
  double instructions = 0;             // machine instructions of warps, of the whole launch
  double busy[busy_parts] = {};        // shares of the time
  double active_warps = 0;             // of a busy multiprocessor, on average
  double counted = 1;                  // the share of the instructions that were run
  double likeness = 1;                 // the recorded blocks' share of an average block's work
  double idle_blocks = 0;              // the estimated number of blocks that write nothing
  double longest_block_us = 0;         // at the recorded blocks' pace; 0: not every block ran
  std::vector<double> experiments_us;  // by what_if
  std::vector<stall_cycles> stalled;   // as multiprocessor_time has them
  std::vector<site_account> sites;     // of the whole launch
  std::unordered_map<std::uint64_t, double> waited_for;
};

class timer {
 public:
  struct options {
    bool sampling = false;
    bool experiments = false;
    std::uint64_t seed = 0;  // chooses the recorded multiprocessor; 0: the usual one
  };
  timer(const gpu& model, const options& how);
  ~timer();

  struct launch_shape {
    observer::launch_info launch;
    std::uint64_t blocks = 1;
    unsigned resident = 1;                                    // per multiprocessor
    unsigned resident_full = 1, resident_more_registers = 1;  // in the experiments
    std::uint64_t l1_bytes = 0;
    unsigned cluster = 1;  // blocks per cluster
  };
  void begin(const launch_shape& shape);
  bool wants(std::uint64_t block) const;
  bool interleaves_blocks() const { return code_->draws_work; }
  // Instructions that a warp of the running block may execute before it asks again. 0: it has
  // executed enough.
  std::int64_t slice() const;
  void begin_block(std::uint64_t index);
  void end_block(std::uint64_t index);
  void switch_to(std::uint64_t index);
  // Whether accesses from now on are kept.
  bool is_recording() const { return recorder_.is_on(); }
  void access(const recorded_access& a, std::span<const recorded_line> lines) {
    recorder_.access(a, lines);
  }
  void signal(std::uint32_t ordinal, const recorded_signal& s) { recorder_.signal(ordinal, s); }
  // Drops the accesses and signals that the current run has recorded so far.
  void forget_run() { recorder_.forget_run(); }
  void loaded(std::uint32_t site, std::uint64_t address);
  void stored(std::uint64_t address);
  void atomic(std::uint32_t site, const std::uint64_t* address, std::uint32_t active);
  // A bulk reduction to a line of 128 bytes.
  void reduced(std::uint32_t site, std::uint64_t line);
  void executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end);
  // Adds an access of any block: sectors of global or local memory, wavefronts of shared memory.
  void moved(std::uint64_t sectors, std::uint64_t shared_wavefronts) {
    sectors_ += sectors;
    shared_wavefronts_ += shared_wavefronts;
    each_.moved(sectors, shared_wavefronts);
  }
  launch_time end(const std::vector<site_traffic>& traffic);

  const code_costs& code() const { return *code_; }
  const gpu_costs& costs() const { return costs_; }

 private:
  bool is_small() const;
  void add_up_costs();
  void find_uneven();
  void find_idle();
  std::uint64_t probed_block(std::uint64_t n) const;
  void find_early();
  void choose_by_seed();
  struct traffic_comparison {
    double likeness = 1;      // the lesser share of an average block's L2 or memory traffic
    double least_cycles = 0;  // of the launch
  };
  traffic_comparison compare_traffic(const multiprocessor_time& t,
                                     const std::vector<site_rates>& rates,
                                     const std::vector<site_traffic>& traffic) const;
  double likeness(double of_traffic) const;
  double longest_block_cycles(const multiprocessor_time& t, std::uint64_t blocks) const;
  void set_clock();
  multiprocessor_time of_longest(const multiprocessor_work& work);
  bool is_recorded(std::uint64_t block) const;
  double in_recorded_blocks(double share) const;
  double scale() const;
  struct room {
    double evicted = 0;  // bytes written to memory per byte that arrives
    double own = 0;      // of these, the share that this launch stored
  };
  room make_room(double read, double stored);
  std::vector<site_account> whole(std::vector<site_account> simulated,
                                  const std::vector<site_rates>& rates,
                                  const std::vector<site_traffic>& traffic) const;
  double of_a_block(double share) const;
  std::vector<double> whole_sectors(const std::vector<site_traffic>& traffic) const;
  std::future<double> us_if(what_if e, const multiprocessor_work& work) const;
  std::vector<site_rates> rates(const std::vector<site_traffic>& traffic);

  // The number of uses of each key.
  struct counts {
    std::unordered_map<std::uint64_t, std::uint64_t> times;
    std::uint64_t all = 0;
    void add(std::uint64_t key);
    double share_of_most() const;
  };
  struct wanted {
    counts addresses, lines;  // lanes; sectors of a line, once per serialised access
  };

  gpu model_;
  gpu_costs usual_costs_;
  gpu_costs costs_;  // at the launch's clock
  options how_;
  std::unordered_map<const program*, std::pair<std::size_t, std::unique_ptr<code_costs>>> known_;
  const code_costs* code_ = nullptr;
  launch_shape shape_;
  std::uint64_t processors_ = 1;  // multiprocessors that the launch can use
  const global_memory* memory_ = nullptr;
  bool cuts_ = false;  // this launch is sampled
  // An average block's instructions and requests to global memory, relative to a recorded one's.
  double instruction_share_ = 1, request_share_ = 1;
  double busy_share_ = 1;  // an average block's work, in blocks with at least half the most work
  double idle_share_ = 0;  // the share of blocks that have less
  double unwritten_share_ = 0;          // the share of blocks that write nothing to global memory
  std::uint64_t first_ = 0, wave_ = 1;  // the sampled wave
  std::uint64_t lane_ = 0;              // the recorded multiprocessor
  std::vector<std::uint64_t> early_;    // its blocks, if all blocks of the launch are resident
  // The blocks of another multiprocessor, drawn by the seed in addition to the early ones.
  std::vector<std::uint64_t> drawn_;
  std::uint64_t launches_ = 0;
  launch_trace drawn_trace_;
  const launch_trace* trace_ = nullptr;  // of the multiprocessor that takes longest
  std::uint64_t recorded_blocks_ = 1;
  std::int64_t enough_ = 0;             // instructions of a block that is not recorded
  std::uint64_t block_ = 0;             // the running block
  std::int64_t done_ = 0;               // its instructions
  std::uint64_t run_instructions_ = 0;  // of all blocks
  std::uint64_t sectors_ = 0, shared_wavefronts_ = 0;  // likewise
  block_work_counter each_;
  std::vector<std::uint64_t> cost_before_;  // by ordinal: cost of the code before it
  recorder recorder_;
  struct allocation {
    std::uint64_t first = 1, end = 0;
    bool holds(std::uint64_t address) const { return address >= first && address < end; }
  };
  const allocation& allocation_of(std::uint64_t address, allocation& last) const;
  std::unordered_map<std::uint64_t, std::uint64_t> loaded_;    // allocations: bytes by address
  std::unordered_map<std::uint32_t, std::uint64_t> loads_of_;  // site -> allocation
  std::unordered_map<std::uint64_t, std::uint64_t> stored_,
      stored_before_;  // by this launch; by earlier launches
  allocation last_loaded_, last_stored_;
  double dirty_ = 0;  // written bytes in L2, which may have to be evicted
  std::unordered_map<std::uint32_t, wanted> atomics_;  // by site
  // The lines of bulk reductions, by site. More lines spread evenly over the slices of L2.
  static constexpr std::size_t few_lines = 1 << 15;
  std::unordered_map<std::uint32_t, std::unordered_set<std::uint64_t>> reduced_;
};

}  // namespace stepwise::emulator
