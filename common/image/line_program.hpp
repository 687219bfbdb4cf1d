// The line tables of DWARF 2: which line each machine address belongs to.
#pragma once

#include <cstdint>
#include <functional>

#include "common/image/bytes.hpp"

namespace stepwise::image {

// A run of machine code that belongs to one line.
struct line_span {
  std::uint64_t set_address_at = 0;  // where in the section its sequence's address is written: what
                                     // a relocation refers to
  std::uint64_t first = 0, last = 0;  // addresses [first, last)
  std::uint32_t line = 0;
  bool ends_sequence = false;  // the last span: padding after the code is part of it
};

// Runs all the line programs of a section. Throws corrupt.
// source  DWARF Debugging Information Format 2.0.0, section 6.2.
void run_line_programs(bytes section, const std::function<void(const line_span&)>& visit);

}  // namespace stepwise::image
