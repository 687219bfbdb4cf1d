// The counters that memory instructions update while they execute. Included where nothing may be an
// inline function with external linkage (common/emulator/machine/context.hpp): data only.
#pragma once

#include <cstdint>

namespace stepwise {

struct access_counts {
  std::uint64_t global_load_bytes = 0;  // bytes that lanes asked for, before coalescing
  std::uint64_t global_store_bytes = 0;
  std::uint64_t shared_load_bytes = 0;
  std::uint64_t shared_store_bytes = 0;
  std::uint64_t atomics = 0;  // lane operations on global or shared memory
};

}  // namespace stepwise
