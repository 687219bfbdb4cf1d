// A profile as text: for each kernel, a header and then its lines with their costs.
//
// idea    Each source line has its share of the kernel's instructions and, below it, the actual and
//         the ideal cost of its accesses. Wasteful lines are marked, and listed again after the
//         kernel, most expensive first.
// tests   tests/profile_test.cpp
#pragma once

#include <string>
#include <vector>

#include "common/report/finding_text.hpp"
#include "common/report/profile.hpp"

namespace stepwise {

// The resources that limit the resident blocks, for example "warps, registers".
std::string limiter_of(const occupancy& o);

struct profile_style {
  std::size_t width = 80;
  bool with_inner = true;  // list functions inlined into a line
};

// The launches of one kernel as one profile, if they differ only in the grid. A recursion of
// twenty launches would otherwise fill ten screens.
std::vector<kernel_profile> merged_grids(const std::vector<kernel_profile>& kernels);

std::vector<text_line> profile_lines(const kernel_profile& k, const profile_style& style);
// All kernels, with merged grids, and an empty line after each.
std::string profile_text(const std::vector<kernel_profile>& kernels, const profile_style& style);

}  // namespace stepwise
