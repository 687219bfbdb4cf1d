// Sixteen cells at a time: the vector operations of cells.hpp.
//
// Tested by tests/cells_test.cpp, which compares the two sets of functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace stepwise::emulator {

// A structure of arrays, so that an access to several cells works on whole vectors.
struct cell_group {
  static constexpr unsigned size = 16;
  using field = std::uint32_t[size];
  field write_time;
  field writer;  // warp of the launch * 32 + lane
  field write_site;
  field read_time;
  field reader;  // warp of the launch
  field read_lanes;
  field read_site;
  field older_time;  // the previous reader from another warp
  field older_reader;
  field older_lanes;
  field older_site;
};

// A warp's view during a run of accesses: which earlier accesses are settled, and what to record.
struct accessor {
  std::uint32_t settled;                  // anything before this tick is ordered before the warp
  std::uint32_t block_settled;            // and accesses of its own block before this tick
  std::uint32_t first_warp, block_warps;  // the warp's block
  std::uint32_t launch;                   // when the running launch began
  std::uint32_t now;                      // the tick that its accesses get
  std::uint32_t warp;                     // its number in the launch
  std::uint32_t site;
  std::uint32_t met = 0;  // the warp's lanes know each other's accesses before this tick
  // A load need not be recorded if its group's group_summary::two_readers() equals this tick. If
  // it is 0, every load is recorded.
  std::uint32_t two_readers = 0;
  // From these ticks on, writes may be copies by cp.async that have not finished: writes by other
  // threads from the first tick on, writes by the accessing thread itself from the second tick on.
  std::uint32_t copies_known = ~std::uint32_t{0}, own_copies_known = ~std::uint32_t{0};

  // Writes before this tick are ordered before the warp's accesses, and have finished.
  std::uint32_t writes_settled() const { return settled < copies_known ? settled : copies_known; }
  // The first tick from which a write may be an unfinished copy.
  std::uint32_t all_copies_known() const {
    return copies_known < own_copies_known ? copies_known : own_copies_known;
  }
  // The same view, for cells that no unfinished copy has written.
  accessor without_copies() const {
    accessor a = *this;
    a.copies_known = a.own_copies_known = ~std::uint32_t{0};
    return a;
  }
};

// The part of a row of accesses that lies in one group.
struct row_part {
  std::uint32_t inside;       // bit k: cell k is accessed
  std::uint32_t before;       // cell k is number k + before of the row, modulo 2^32
  std::uint32_t shift;        // log2 of the cells per lane
  std::uint32_t first_lanes;  // the lanes that access the row's first place
  std::uint32_t thread;    // the writer of the first place; `no_thread` if several lanes access it
  std::uint32_t step = 1;  // from a place's lanes to those of the next place: 1 or -1

  static constexpr std::uint32_t no_thread = ~std::uint32_t{1};  // no thread's number
  std::uint32_t place(std::uint32_t k) const { return (k + before) >> shift; }
  std::uint32_t thread_of(std::uint32_t place) const {
    return thread == no_thread ? no_thread : thread + step * place;
  }
  std::uint32_t lanes_of(std::uint32_t place) const {
    return std::rotl(first_lanes, static_cast<int>(step * place & 31));
  }
};

// The operations on a group: whether an access needs a closer look, and recording it.
struct group_functions {
  bool (*load_is_open)(const cell_group& g, const row_part& p, const accessor& a);
  void (*note_load)(cell_group& g, const row_part& p, const accessor& a);
  bool (*store_is_open)(const cell_group& g, const row_part& p, const accessor& a);
  void (*note_store)(cell_group& g, const row_part& p, const accessor& a);
};
// Implemented by plain loops and by AVX-512 (null if the CPU lacks it), with the same results.
const group_functions* groups_in_loops();
const group_functions* groups_by_avx512();

}  // namespace stepwise::emulator
