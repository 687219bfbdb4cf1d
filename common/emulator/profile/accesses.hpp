// Which accesses of the PTX the machine code has merged or left out: the second half of source_map.
//
// idea    ptxas looks at the loads of one aligned 16-byte window: the same root, windows counted
//         from it, the loads in blocks that the first one dominates. Three or four words become one
//         16-byte load, two in one half an 8-byte load; the first load in the text keeps the
//         instruction, at whatever address of the group it is. Two words in different halves stay
//         two loads, whose instructions both stand at the first one's line: where 64 such pairs lie
//         far apart, the kernel has no registers that could hold words loaded ahead. Stores need
//         all bytes and are done by the last one. Only PTX lines without machine instructions are
//         explained so.
// source  Observed with nvcc 13.0 on all orders of two, three and four words, sm_90.
//         Tested by tests/.
#pragma once

#include "common/emulator/profile/control_flow.hpp"
#include "common/emulator/profile/source_map.hpp"

namespace stepwise::emulator {

// Fills roles, groups, dropped and thinned of a map whose machine instructions are counted.
// `has_no_frame`: the machine code uses no local memory of its own.
void find_accesses(const ptx::module& m, const ptx::body& body, const control_flow& flow,
                   bool has_no_frame, source_map& out);

}  // namespace stepwise::emulator
