// Finds reads of bytes that were never written.
#pragma once

#include "common/emulator/check/evidence.hpp"

namespace stepwise::emulator {

class initialisation_check final : public check {
 public:
  explicit initialisation_check(evidence& all) : check(all) {}

  void read_unwritten(const lane_access& t);
  // A race of two lines at these bytes may explain that nothing was written there.
  void explain(const finding_key& race, const lane_access& t);
  // If a read's line also races at the same place, the race is reported instead. If other reads of
  // the same line remain, one is described.
  void settle();
  // The host copies these bytes of global memory to itself.
  void copied_to_host(device_address from, std::uint64_t bytes);

 private:
  finding describe(const unwritten_reads::read& r);
  bool looks_like_padding(std::uint64_t at, std::uint64_t gaps) const;

  unwritten_reads reads_;  // of the running launch
};

}  // namespace stepwise::emulator
