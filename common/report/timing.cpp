// Names and sums of the time model's results.
#include "common/report/timing.hpp"

#include <numeric>

#include "common/report/profile_fields.hpp"

namespace stepwise {

const char* name_of(part p) {
  constexpr const char* names[busy_parts] = {"issue", "alu", "fma",  "tensor",
                                             "port",  "l2",  "dram", "atomics"};
  return names[static_cast<int>(p)];
}

const char* name_of(stall s) {
  constexpr const char* names[stalls] = {
      "memory dependency", "shared dependency", "special functions", "execution dependency",
      "synchronization",   "memory throttle",   "pipe busy",         "instruction fetch",
      "not selected"};
  return names[static_cast<int>(s)];
}

const char* name_of(what_if e) {
  constexpr const char* names[experiments] = {
      "no global memory", "no arithmetic",       "perfect coalescing", "no bank conflicts",
      "full occupancy",   "twice the registers", "no local memory",    "no divergence"};
  return names[static_cast<int>(e)];
}

double stall_cycles::all() const { return std::accumulate(of, of + stalls, 0.0); }

stall_cycles& stall_cycles::operator+=(const stall_cycles& o) {
  for (int n = 0; n < stalls; ++n) of[n] += o.of[n];
  issued += o.issued;
  return *this;
}

level_traffic& level_traffic::operator+=(const level_traffic& o) { return add_fields(*this, o); }

}  // namespace stepwise
