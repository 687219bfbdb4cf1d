// Counts copies, fills and allocations of device memory, and models the time of copies and fills.
//
// idea    Copies and fills bypass the profiler, which sees only kernels, but on a GPU each of them
//         takes bandwidth and a launch. The rates are the timeline's
//         (common/timeline/transfer_rates). The device gets a pitched area row by row. Rows of one
//         width at equal distances, with gaps between them, count as one operation, like a single
//         2D copy. A plane of a 3D copy counts as an operation of its own.
// watch   Whole sectors are counted, so that narrow rows are not cheap. A copy is assumed to read
//         and write memory even if a GPU would find the data in L2.
// Tested by tests/transfers_test.cpp.
#pragma once

#include <utility>

#include "common/report/profile.hpp"
#include "common/timeline/transfer_rates.hpp"

namespace stepwise::emulator {

class transfer_counter {
 public:
  // `timed`: the time is modelled, too.
  transfer_counter(const gpu& model, bool timed) : rates_(rates_of(model)), timed_(timed) {}

  // Returns the modelled time in microseconds; 0 if nothing is counted or modelled.
  double copied(device_address to, device_address from, std::uint64_t bytes);
  double filled(device_address to, std::uint64_t bytes);
  void allocated() { total_.allocations += counted_ ? 1 : 0; }
  // Other work comes in between, so the next operation is not a further row.
  void end_rows() { row_ = {}; }

  // Sets whether operations are counted from now on.
  void count(bool counted) {
    row_ = {};
    counted_ = counted;
  }
  device_transfers take() { return std::exchange(total_, {}); }

 private:
  struct row {
    bool copies = false;
    std::uint64_t to = 0, from = 0, bytes = 0;  // bytes is 0: no row
    std::uint64_t to_step = 0, from_step = 0;   // 0: not known yet
  };
  bool is_next_row(const row& next);
  double us_of(double bytes, double bytes_per_s, bool starts) const;

  transfer_rates rates_;
  bool timed_, counted_ = true;
  device_transfers total_;
  row row_;  // the last one
};

}  // namespace stepwise::emulator
