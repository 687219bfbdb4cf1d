// Rates with which a test can count in its head.
#pragma once

#include "common/timeline/transfer_rates.hpp"

namespace stepwise {

// A call takes 1 us to ask for, a byte 1 us to copy.
inline transfer_rates simple_rates() {
  transfer_rates r;
  r.link = {"link", 1e6};
  r.pageable_to_device = r.pageable_to_host = 0.5e6;
  r.copy_bytes_per_s = r.fill_bytes_per_s = 1e6;
  r.launch_us = 1;
  r.measured = true;
  return r;
}

}  // namespace stepwise
