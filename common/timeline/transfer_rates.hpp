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
  double copy_bytes_per_s = 0;  // copies on the device; each byte counts once
  double fill_bytes_per_s = 0;
  double start_us = 0;                     // overhead of each copy or fill
  double launch_us = 0;                    // host time to request a kernel, a copy or a fill
  double allocate_us = 0, release_us = 0;  // host time per call
  int copy_engines = 2;
  bool measured = false;       // the rates of the device itself
  bool link_measured = false;  // the rates of the link, and allocations
};

// The rates of a GPU. If copies over the link were not measured, their rate is estimated as four
// fifths of the rate of the PCI Express generation of GPUs with this compute capability. For
// pageable memory and allocations, which are the host's work, the estimates are the figures of an
// H100's host.
transfer_rates rates_of(const gpu& model);

}  // namespace stepwise
