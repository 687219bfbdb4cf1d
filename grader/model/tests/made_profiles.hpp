// Profiles for tests, made from a few numbers.
#pragma once

#include "common/report/profile.hpp"

namespace stepwise {

inline kernel_profile kernel_of(double us) {
  kernel_profile k;
  k.kernel = "kernel";
  k.launches = 1;
  k.grid = {1000000, 1, 1};
  k.block = {256, 1, 1};
  k.fits.blocks = 8;
  k.resident_warps = k.most_warps = 64;
  k.timing.us = us;
  k.timing.active_warps = 64;
  return k;
}

inline void set_busy(kernel_profile& k, part p, double share) {
  k.timing.busy[static_cast<int>(p)] = share;
}

// Adds a line. The reference stays valid for 16 lines.
inline line_profile& add_line(kernel_profile& k, int number) {
  k.lines.reserve(16);
  line_profile& l = k.lines.emplace_back();
  l.at.file = "a.cu";
  l.at.line = number;
  l.at.text = "line " + std::to_string(number);
  return l;
}

inline sector_counts sectors(std::uint64_t requests, std::uint64_t cost, std::uint64_t ideal) {
  sector_counts c;
  c.requests = requests;
  c.sectors = cost;
  c.ideal_sectors = ideal;
  return c;
}

inline wavefront_counts wavefronts(std::uint64_t requests, std::uint64_t cost,
                                   std::uint64_t ideal) {
  return {requests, 32 * requests, cost, ideal};
}

inline void sum_up(kernel_profile& k) {
  k.total = {};
  for (const line_profile& l : k.lines) k.total += l.counts;
}

}  // namespace stepwise
