// A block's occupancy, and how other numbers of threads, registers and bytes would change it.
// Tested by tests/occupancy_study_test.cpp.
#pragma once

#include <optional>
#include <vector>

#include "common/device/occupancy.hpp"

namespace stepwise {

struct occupancy_point {
  std::uint64_t at = 0;  // threads per block, registers per thread, or bytes per block
  int warps = 0;         // resident
};

// The smallest change of one number that allows more blocks to be resident.
struct occupancy_gain {
  enum class by : std::uint8_t { threads, registers, shared } what;
  std::uint64_t to = 0;
  int warps = 0;
};

struct occupancy_study {
  gpu model;
  block_needs block;
  block_room room;
  std::vector<occupancy_point> by_threads, by_registers, by_shared;  // the other two unchanged
  std::vector<occupancy_gain> gains;

  int most_warps() const;
  int warps() const { return room.blocks() * room.warps; }
  double percent(int warps) const { return 100.0 * warps / most_warps(); }
};

// Allows as much shared memory as the GPU has for a block that opts in. Returns invalid_value if no
// block of this size can exist, not_supported if the GPU's rules are unknown.
result<occupancy_study> study_occupancy(const gpu& model, std::uint64_t threads,
                                        std::uint64_t registers, std::uint64_t shared_bytes);

}  // namespace stepwise
