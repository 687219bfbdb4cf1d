// Counts copies and fills of device memory, and models what they take.
//
// idea    They bypass the profiler, which sees kernels only, but a GPU spends bandwidth and a
//         launch on each. The rates are those of the timeline (common/timeline/transfer_rates).
//         The device is asked row by row for a pitched area. Rows of one width at equal distances,
//         with gaps between them, count as one operation, as a single 2D copy would; a plane of a
//         3D copy counts as an operation of its own.
// watch   Bytes are those of whole sectors, so that narrow rows are not cheap. A copy is assumed to
//         read and write memory even where a GPU would find it in L2.
// Tested by tests/transfers_test.cpp.
#pragma once

#include <utility>

#include "common/report/profile.hpp"
#include "common/timeline/transfer_rates.hpp"

namespace stepwise::emulator {

class transfer_counter {
 public:
  // `timed`: what they take is modelled, too.
  transfer_counter(const gpu& model, bool timed) : rates_(rates_of(model)), timed_(timed) {}

  // The answer is what it takes, in microseconds; 0 if nothing is counted or modelled.
  double copied(device_address to, device_address from, std::uint64_t bytes);
  double filled(device_address to, std::uint64_t bytes);
  // Other work comes between: what follows is no further row.
  void end_rows() { row_ = {}; }

  // Whether it counts from now on.
  void count(bool counted) {
    row_ = {};
    counted_ = counted;
  }
  device_transfers take() { return std::exchange(total_, {}); }

 private:
  struct row {
    bool copies = false;
    std::uint64_t to = 0, from = 0, bytes = 0;  // no bytes: there is none
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
