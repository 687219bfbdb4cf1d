// Uses of a wgmma's sums before wgmma.wait_group has waited for it, found in the PTX.
//
// watch   Only straight-line code is followed: the search for each wgmma ends at a branch. ptxas
//         repairs an early use with a wait of its own, and warns.
// source  PTX ISA 9.0, "wgmma.mma_async": accesses to its registers before the wait are undefined.
//         Tested by ../tests/async_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

struct early_sum {
  std::uint32_t product, use;  // instructions of the body
};

// Returns at most the first such use for each wgmma.
std::vector<early_sum> early_sums(const ptx::body& body, const control_flow& flow);

}  // namespace stepwise::emulator
