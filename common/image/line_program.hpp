// The line tables of DWARF 2, which map machine addresses to lines.
#pragma once

#include <cstdint>
#include <functional>

#include "common/image/bytes.hpp"

namespace stepwise::image {

// A run of machine code that belongs to one line.
struct line_span {
  std::uint64_t set_address_at = 0;   // section offset of the sequence's address, for relocations
  std::uint64_t first = 0, last = 0;  // addresses [first, last)
  std::uint32_t line = 0;
  bool ends_sequence = false;  // last span; includes padding after the code
};

// Runs all line programs of a section. Throws corrupt.
// source  DWARF Debugging Information Format 2.0.0, section 6.2.
void run_line_programs(bytes section, const std::function<void(const line_span&)>& visit);

}  // namespace stepwise::image
