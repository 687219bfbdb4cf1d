// A profile as a person reads it: a head for each kernel, then its lines beside what they cost.
//
// idea    A line of the student's file, its share of the kernel's instructions, and under it, in
//         words, what its accesses cost and what would do. Lines that waste something are marked,
//         and named again, the most expensive first, under the kernel.
// tests   tests/profile_test.cpp
#pragma once

#include <string>
#include <vector>

#include "common/report/finding_text.hpp"
#include "common/report/profile.hpp"

namespace stepwise {

// What keeps a multiprocessor from holding more blocks: "warps, registers".
std::string limiter_of(const occupancy& o);

struct profile_style {
  std::size_t width = 80;
  bool with_inner = true;  // functions inlined into a line, apart
};

std::vector<text_line> profile_lines(const kernel_profile& k, const profile_style& style);
// All kernels, an empty line between them, one after each.
std::string profile_text(const std::vector<kernel_profile>& kernels, const profile_style& style);

}  // namespace stepwise
