// Finds reads of bytes that were never written.
#pragma once

#include <map>
#include <vector>

#include "common/emulator/check/evidence.hpp"

namespace stepwise::emulator {

class initialisation_check final : public check {
 public:
  explicit initialisation_check(evidence& all) : check(all) {}

  void allow_reads() { reads_are_allowed_ = true; }
  void read_unwritten(const lane_access& t);
  // Notes a race at these bytes. Returns whether it explains why they were unwritten when they were
  // read.
  bool explain(const finding_key& race, const lane_access& t);
  // Drops the reads that a race at the same line and place explains. If other reads of the same
  // line remain, the finding describes one of them. `stored`: allocations that the launch stores
  // to.
  void settle(const std::vector<device_address>& stored);
  // The host copies these bytes of global memory to host memory.
  void copied_to_host(device_address from, std::uint64_t bytes);

 private:
  finding describe(const unwritten_reads::read& r, bool is_running);
  std::string how_to_fill(const finding_object& o, bool is_atomic) const;
  // `element`: the size of an element; 0 if it is unknown, or if the block has ended.
  std::string how_to_fill_shared(const finding_object& o, std::uint64_t element) const;
  bool adds_to_it(const access_site& s) const;
  bool only_writes(std::uint32_t site);
  std::uint64_t written_bytes(device_address from, std::uint64_t bytes) const;
  bool looks_like_padding(std::uint64_t at, std::uint64_t gaps) const;

  void ask_if_swapped(const std::vector<device_address>& stored);

  // An array that was read before anything was written to it, and those of the same size that were
  // full at that time.
  struct empty_array {
    finding_key key;
    std::vector<device_address> full;
  };

  bool reads_are_allowed_ = false;
  std::map<std::uint32_t, bool> only_writes_;  // of sites with atomics
  std::vector<empty_array> empty_;             // in the running launch
  unwritten_reads reads_;                      // in the running launch
};

}  // namespace stepwise::emulator
