// A recorded warp as lines of text.
#pragma once

#include <string>
#include <vector>

#include "common/report/recording.hpp"

namespace stepwise::cli {

struct screen {
  std::size_t columns = 80, rows = 24;
};

// The lines for step `at`: source, PTX, lanes, its accesses and, with `values`, the registers
// written. Three rows of the screen stay free.
std::vector<std::string> frame_lines(const warp_recording& r, std::size_t at, bool values,
                                     const screen& on);

// A line of the list, in 80 columns: number, lanes, source line, cost, PTX.
std::string list_line(const warp_recording& r, std::size_t at);

}  // namespace stepwise::cli
