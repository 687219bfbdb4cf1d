// The counters that memory instructions update while they execute. This header holds only data,
// because common/emulator/machine/context.hpp must not include inline functions with external
// linkage.
#pragma once

#include <cstdint>

namespace stepwise {

struct access_counts {
  std::uint64_t global_load_bytes = 0;  // bytes requested by lanes, before coalescing
  std::uint64_t global_store_bytes = 0;
  std::uint64_t shared_load_bytes = 0;
  std::uint64_t shared_store_bytes = 0;
  std::uint64_t atomics = 0;  // lane operations on global or shared memory
};

}  // namespace stepwise
