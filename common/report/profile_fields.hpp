// The counts of a profile that are added, written and read field by field: visit(name, member).
//
// Tested by tests/profile_test.cpp.
#pragma once

#include "common/report/profile.hpp"

namespace stepwise {

template <class Visit>
void each_field(const sector_counts&, Visit visit) {
  visit("requests", &sector_counts::requests);
  visit("lanes", &sector_counts::lanes);
  visit("sectors", &sector_counts::sectors);
  visit("ideal_sectors", &sector_counts::ideal_sectors);
  visit("l1_hits", &sector_counts::l1_hits);
  visit("l2_sectors", &sector_counts::l2_sectors);
  visit("l2_hits", &sector_counts::l2_hits);
  visit("dram_read_bytes", &sector_counts::dram_read_bytes);
  visit("dram_write_bytes", &sector_counts::dram_write_bytes);
  visit("repeated_sectors", &sector_counts::repeated_sectors);
}
template <class Visit>
void each_field(const wavefront_counts&, Visit visit) {
  visit("requests", &wavefront_counts::requests);
  visit("lanes", &wavefront_counts::lanes);
  visit("wavefronts", &wavefront_counts::wavefronts);
  visit("ideal_wavefronts", &wavefront_counts::ideal_wavefronts);
  visit("repeated_wavefronts", &wavefront_counts::repeated_wavefronts);
}
template <class Visit>
void each_field(const async_counts&, Visit visit) {
  visit("tensor_instructions", &async_counts::tensor_instructions);
  visit("tensor_cycles", &async_counts::tensor_cycles);
  visit("operand_wavefronts", &async_counts::operand_wavefronts);
  visit("copies", &async_counts::copies);
  visit("received_sectors", &async_counts::received_sectors);
  visit("sent_sectors", &async_counts::sent_sectors);
  visit("arrivals", &async_counts::arrivals);
  visit("waits", &async_counts::waits);
  visit("cluster_barriers", &async_counts::cluster_barriers);
  visit("peer_sectors", &async_counts::peer_sectors);
}
template <class Visit>
void each_field(const device_transfers&, Visit visit) {
  visit("copies", &device_transfers::copies);
  visit("copied_bytes", &device_transfers::copied_bytes);
  visit("fills", &device_transfers::fills);
  visit("filled_bytes", &device_transfers::filled_bytes);
  visit("us", &device_transfers::us);
  visit("allocations", &device_transfers::allocations);
}
template <class Visit>
void each_field(const level_traffic&, Visit visit) {
  visit("l1_sectors", &level_traffic::l1_sectors);
  visit("shared_wavefronts", &level_traffic::shared_wavefronts);
  visit("load_sectors", &level_traffic::loads);
  visit("load_hits", &level_traffic::load_hits);
  visit("l2_sectors", &level_traffic::l2_sectors);
  visit("l2_hits", &level_traffic::l2_hits);
  visit("dram_read_bytes", &level_traffic::dram_read_bytes);
  visit("dram_write_bytes", &level_traffic::dram_write_bytes);
  visit("dram_earlier_bytes", &level_traffic::dram_earlier_bytes);
}

// The accesses of profile_counts, each with its sector_counts or wavefront_counts.
template <class Visit>
void each_access(Visit visit) {
  visit("global_load", &profile_counts::global_load);
  visit("global_store", &profile_counts::global_store);
  visit("global_atomic", &profile_counts::global_atomic);
  visit("local_load", &profile_counts::local_load);
  visit("local_store", &profile_counts::local_store);
  visit("constant_load", &profile_counts::constant_load);
  visit("shared_load", &profile_counts::shared_load);
  visit("shared_store", &profile_counts::shared_store);
  visit("shared_atomic", &profile_counts::shared_atomic);
  visit("shared_copy", &profile_counts::shared_copy);
  visit("bulk_load", &profile_counts::bulk_load);
  visit("bulk_store", &profile_counts::bulk_store);
  visit("bulk_shared_copy", &profile_counts::bulk_shared_copy);
}

template <class Counts>
Counts& add_fields(Counts& to, const Counts& more) {
  each_field(to, [&](const char*, auto field) { to.*field += more.*field; });
  return to;
}

}  // namespace stepwise
