// Rates that are easy to calculate with.
#pragma once

#include "common/timeline/transfer_rates.hpp"

namespace stepwise {

// A launch takes the host 1 us, and copying a byte takes 1 us.
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
