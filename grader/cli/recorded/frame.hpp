// A recorded warp as lines of text, at most 80 columns.
#pragma once

#include <string>
#include <vector>

#include "common/report/recording.hpp"

namespace stepwise::cli {

// What step `at` shows: source, PTX, lanes, its accesses; `values`: the registers written, too.
std::vector<std::string> frame_lines(const warp_recording& r, std::size_t at, bool values);

// Of the list: number, lanes, source line, cost, PTX.
std::string list_line(const warp_recording& r, std::size_t at);

}  // namespace stepwise::cli
