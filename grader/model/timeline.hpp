// The calls, copies and kernels of a program, each with its start and its duration on the emulated
// GPU, for drawing.
//
// idea    The stream clock (common/timeline) computes each start. This file stores them.
// Tested by tests/timeline_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/report/timeline.hpp"
#include "common/timeline/transfer_rates.hpp"

namespace stepwise {

struct device_work {
  asked::kind what = asked::kind::kernel;
  std::string name;  // the kernel's
  std::size_t row = 0;
  double start_us = 0, us = 0;
  std::uint64_t bytes = 0;
  bool pageable = false;

  double end_us() const { return start_us + us; }
};

struct host_call {
  std::string name;
  double start_us = 0, us = 0;
  bool waits = false;  // until work on the device has ended
};

struct timeline {
  std::vector<std::string> rows;  // streams, in the order of their first work: "stream 1"
  std::vector<device_work> activities;
  std::vector<host_call> calls;          // in order, including calls that take no time
  double us = 0;                         // until all work has ended
  double kernels_us = 0, copies_us = 0;  // while at least one runs
  double overlap_us = 0;                 // while both run
  double busy_us = 0;                    // while the device does anything
  std::uint64_t pageable_copies = 0;     // requested as asynchronous, but not pinned
  std::uint64_t untimed = 0;             // launches without a modelled time
};

// Start and end of each piece of work, by the rules of common/timeline/stream_clock.hpp.
timeline lay_out(const asked_list& calls, const transfer_rates& rates);

}  // namespace stepwise
