// How fast a GPU copies and fills, and what it takes to ask for that.
//
// Tested by tests/stream_clock_test.cpp.
#pragma once

#include "common/device/gpu.hpp"
#include "common/device/links.hpp"

namespace stepwise {

struct transfer_rates {
  link_rate link;  // bytes per second of copies between pinned memory and the GPU
  // Of memory that is not pinned, bytes per second and what each copy takes besides, in us.
  double pageable_to_device = 0, pageable_to_host = 0;
  double pageable_start_to_device = 0, pageable_start_to_host = 0;
  double copy_bytes_per_s = 0;  // on the device, counted once
  double fill_bytes_per_s = 0;
  double start_us = 0;   // of each copy or fill
  double launch_us = 0;  // that the host takes to ask for a kernel, a copy or a fill
  double allocate_us = 0, release_us = 0;  // of the host, each
  int copy_engines = 2;
  bool measured = false;       // what the device does by itself
  bool link_measured = false;  // what goes over the link, and allocations
};

// Where nobody measured copies over the link: four fifths of the rate of the PCI Express generation
// of GPUs of this compute capability; and for memory that is not pinned and for allocations, which
// the host works on, what was measured on the machine of an H100. Both are estimates.
transfer_rates rates_of(const gpu& model);

}  // namespace stepwise
