// Finds PTX accesses that ptxas merged or removed. This is the second half of source_map.
//
// idea    ptxas examines the loads in one aligned window of 16 bytes. These loads have the same
//         root, from which windows are counted, and are in blocks that the first load dominates.
//         Three or four words become one load of 16 bytes, and two words in one half of the window
//         become one load of 8 bytes. The line of the first load in the text keeps the
//         instruction, whatever the address of that load in the group. Two words in different
//         halves remain two loads, but both instructions belong to the first load's line. The
//         second word is not loaded early, because a kernel in which 64 such pairs are far apart
//         would not have enough registers for that. Stores are merged only if they cover all bytes,
//         and then the last store writes them. Only PTX lines without machine instructions are
//         explained this way.
// source  Observed with nvcc 13.0 on all orders of two, three and four words, sm_90.
//         Tested by tests/.
#pragma once

#include "common/ptx/control_flow.hpp"
#include "common/source_map/source_map.hpp"

namespace stepwise::emulator {

// Fills in the fields roles, groups, dropped and thinned of a map whose machine instructions are
// already counted. `has_no_frame`: the kernel's machine code has no stack frame.
void find_accesses(const ptx::module& m, const ptx::body& body, const control_flow& flow,
                   bool has_no_frame, source_map& out);

}  // namespace stepwise::emulator
