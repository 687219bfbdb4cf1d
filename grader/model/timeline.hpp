// What a program asked for as a picture has it: each call, copy and kernel with its begin and its
// length on the emulated GPU.
//
// idea    The clock of the streams (common/timeline) says when each begins, here it is kept.
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
  std::string name;  // of a kernel
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
  std::vector<host_call> calls;          // in order; those that take no time, too
  double us = 0;                         // until all has ended
  double kernels_us = 0, copies_us = 0;  // in which at least one runs
  double overlap_us = 0;                 // in which both do
  double busy_us = 0;                    // in which the device does anything
  std::uint64_t pageable_copies = 0;     // asynchronous by name, but not pinned
  std::uint64_t untimed = 0;             // launches that the model has no time for
};

// When each piece of work begins and ends, by the rules of common/timeline/stream_clock.hpp.
timeline lay_out(const asked_list& calls, const transfer_rates& rates);

}  // namespace stepwise
