// When each call, copy and kernel of a program would begin on the GPU that is stood for.
//
// idea    The order of the calls is known, how long a kernel takes is the time model's, how long a
//         copy takes is its bytes over a rate. Streams, events and engines decide the rest: work
//         begins when its call was made, what is before it in its stream has ended, what its
//         stream waits for has happened, and its engine is free.
// watch   Assumed: kernels run at the same time if their blocks fit together, and do not slow each
//         other down; a launch of a kernel takes what its launches take on average; the host's own
//         work between the calls takes no time, and neither do calls that only manage things.
// source  Engines: cudaDeviceProp::asyncEngineCount. Order of streams: CUDA C++ Programming Guide,
//         "Streams", "Default Stream".
// Tested by tests/timeline_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/report/profile.hpp"
#include "common/report/timeline.hpp"
#include "grader/measure/worth.hpp"

namespace stepwise {

struct transfer_rates {
  link_rate link;               // bytes per second of copies between pinned memory and the GPU
  double pageable_share = 0.5;  // of that rate, for memory that is not pinned
  double copy_bytes_per_s = 0;  // on the device, counted once
  double fill_bytes_per_s = 0;
  double start_us = 0;   // of each copy or fill
  double launch_us = 0;  // that the host takes to ask for a kernel, a copy or a fill
  int copy_engines = 2;
  bool measured = false;  // what the device does by itself; the link never is
};

// Of the link, four fifths of the rate of the PCI Express generation of GPUs of this compute
// capability: an estimate.
transfer_rates rates_of(const gpu& model);

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

timeline lay_out(const asked_list& calls, const std::vector<kernel_profile>& kernels,
                 const transfer_rates& rates, int multiprocessors);

}  // namespace stepwise
