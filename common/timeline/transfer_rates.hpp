// How fast a GPU copies and fills, and what it takes to ask for that.
//
// Tested by tests/stream_clock_test.cpp.
#pragma once

#include "common/device/gpu.hpp"
#include "common/device/links.hpp"

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

}  // namespace stepwise
