// A multiprocessor's path to memory: its L1/shared-memory pipe, then its fractions of L2,
// memory and the atomic units.
//
// idea    Each part is a queue with a rate: an access that arrives while the queue is busy waits
//         for earlier accesses. An access cannot be issued while too many accesses are waiting. L1
//         is simulated line by line.
// watch   Reads from memory are spread evenly at each site's rate, not drawn at random, so
//         the same launch gives the same time.
// Tested by tests/memory_path_test.cpp.
#pragma once

#include <span>
#include <vector>

#include "common/emulator/time/code_costs.hpp"
#include "common/emulator/time/costs.hpp"
#include "common/emulator/time/l1_lines.hpp"
#include "common/emulator/time/launch_trace.hpp"

namespace stepwise::emulator {

// The places where a site's sectors are found, as shares of all requested sectors.
struct site_rates {
  double dram = 0;         // missed in L1 and L2: read from memory
  double shared = 0;       // of copies: other multiprocessors copy them at about the same time
  double whole = 1;        // of stores: the share of the sectors' bytes that lanes write
  double evicted = 0;      // bytes written to memory per byte that needs room in L2
  double own = 0;          // of these, the share that this launch stored
  double dram_bytes = 32;  // transferred per sector that is read from memory
  // For atomics: the share of lanes at the most contended address, and the share of sectors in the
  // most contended line.
  double hot = 0, hot_line = 0;
  // For bulk reductions: the lines of the busiest slice of L2, relative to an average slice.
  double imbalance = 1;

  // The share of the site's sectors that L2 serves separately, that is, that it does not merge.
  double served_by_l2() const;
};

// The expected number of lines in the slice of L2 with the most of them, relative to an average
// slice, if each line is equally likely to be in any slice.
double slice_imbalance(double lines, double slices);

// The outcome of a site's accesses.
struct site_account {
  double sectors = 0, wavefronts = 0;  // of global and local memory; of shared memory
  double l1_hits = 0;                  // of the sectors
  double l2_sectors = 0, dram_sectors = 0;
  double dram_read_bytes = 0, dram_write_bytes = 0, dram_earlier_bytes = 0;

  site_account& operator*=(double times);
};

// The changes that an experiment makes to accesses.
struct memory_wishes {
  bool no_global = false;  // global memory costs nothing
  bool no_local = false;   // local memory costs nothing
  bool ideal_sectors = false, ideal_wavefronts = false;

  recorded_access of(const recorded_access& a) const;  // with the changes
  bool change(const recorded_access& a) const;
};

class memory_path {
 public:
  // `active`: the number of multiprocessors that share L2 and memory, including this one.
  // `all_resident`: every block is resident and has an equal part of the work.
  memory_path(const gpu_costs& costs, unsigned active, std::uint64_t l1_bytes,
              const std::vector<site_rates>& sites, const memory_wishes& wishes,
              bool all_resident = false);

  // When an access may be issued.
  double free_for_shared() const;
  double free_for_global() const;

  // Queues the accesses of a warp instruction issued at `at`. Returns the time when its result is
  // ready. `lines`: the lines that the accesses refer to.
  double access(const instruction_cost& of, std::span<const recorded_access> all,
                std::span<const recorded_line> lines, double at);
  // Queues the accesses of a bulk copy. For a copy from shared memory, returns the time when its
  // source may be overwritten; otherwise, the time when all of its bytes have arrived. `times`: the
  // number of blocks in the cluster that receive the copy.
  double bulk_copy(std::span<const recorded_access> all, unsigned times, double at);
  double exchange(double at, double slots);  // shuffles use the L1 pipe, too
  double barrier(double at);                 // and so do warps that reach a barrier

  double drained() const;  // when the last access is complete

  // Busy cycles of each part.
  struct cycles {
    double l1_pipe = 0, l2_read = 0, l2_write = 0, dram = 0, atomics = 0, copies = 0, cluster = 0;
  };
  const cycles& busy() const { return busy_; }
  // The accesses that went through the queues, by site. Atomics read nothing from memory here.
  std::vector<site_account> account() const;

 private:
  struct queue {
    double free = 0;
  };
  using line_list = std::span<const recorded_line>;
  double global_access(const instruction_cost& of, const recorded_access& a, line_list lines,
                       double begun);
  double atomic(const instruction_cost& of, recorded_access a, double begun);
  double load(const recorded_access& a, line_list lines, double begun);
  double arrival(const recorded_access& a, unsigned missed, double begun);
  double read_rate(double backlog) const;
  double lateness(unsigned lines);
  site_account& account_of(std::uint32_t site);
  static double account_evicted(site_account& a, const site_rates& rates, double bytes);
  static void account_read(site_account& a, const site_rates& rates, double sectors);
  static double take(queue& q, double& busy, double at, double cycles);
  static unsigned draw(double& owed, unsigned most);

  const gpu_costs& costs_;
  const std::vector<site_rates>& sites_;
  const memory_wishes wishes_;
  l1_lines l1_;
  std::vector<site_account> account_;
  std::vector<double> owed_;  // sectors that a site has yet to read from memory
  // This multiprocessor's shares, per cycle.
  double l2_share_, l2_write_share_, sector_share_, line_share_, read_share_, few_share_,
      write_share_, atomic_share_;
  unsigned active_;
  queue l1_pipe_, l2_, l2_write_, dram_, atomic_, hot_, loads_, stores_, cluster_;
  cycles busy_;
  double sequence_ = 0;  // the last number in the sequence for lateness()
};

}  // namespace stepwise::emulator
