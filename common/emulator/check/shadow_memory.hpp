// The checks' record of a memory that threads share: who accessed each word last, and which bytes
// were written.
#pragma once

#include <cstdint>

#include "common/emulator/check/cells.hpp"
#include "common/emulator/check/written.hpp"

namespace stepwise::emulator {

// Positions are offsets from the memory's first byte.
struct shadow_memory {
  // Throws std::bad_alloc if the address space cannot be reserved.
  shadow_memory(std::uint64_t size, std::uint64_t most_pages)
      : cells(size, most_pages), written(size + 64), bytes_watched(size) {}

  memory_cells cells;
  written_bytes written;
  std::uint64_t bytes_watched;
  bool is_shared = false;   // a block's shared memory
  std::uint32_t block = 0;  // whose it is: its number in the launch, truncated
};

}  // namespace stepwise::emulator
