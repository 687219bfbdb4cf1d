// A GPU's rates of copies and fills, and the overhead of a request.
//
// Tested by tests/stream_clock_test.cpp.
#pragma once

#include "common/device/gpu.hpp"
#include "common/device/links.hpp"

namespace stepwise {

struct transfer_rates {
  link_rate link;  // bytes per second of copies between pinned memory and the GPU
  // For pageable memory: bytes per second, and the overhead of each copy in us.
  double pageable_to_device = 0, pageable_to_host = 0;
  double pageable_start_to_device = 0, pageable_start_to_host = 0;
  double copy_bytes_per_s = 0;  // on the device, counted once
  double fill_bytes_per_s = 0;
  double start_us = 0;                     // of each copy or fill
  double launch_us = 0;                    // for the host to request a kernel, a copy or a fill
  double allocate_us = 0, release_us = 0;  // of the host, each
  int copy_engines = 2;
  bool measured = false;       // the rates of the device itself
  bool link_measured = false;  // the rates of the link, and allocations
};

// If copies over the link were not measured, they have four fifths of the rate of the PCI Express
// generation of GPUs with this compute capability. Pageable memory and allocations, which are the
// host's work, then have the figures of the machine of an H100. Both are estimates.
transfer_rates rates_of(const gpu& model);

}  // namespace stepwise
