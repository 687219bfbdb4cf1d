// Finds PTX accesses that the machine code merged or left out: the second half of source_map.
//
// idea    ptxas examines the loads of one aligned 16-byte window: they have the same root, from
//         which windows are counted, and lie in blocks that the first load dominates. Three or four
//         words become one 16-byte load, and two words in one half an 8-byte load; the first load
//         in the text keeps the instruction, at whatever address of the group it is. Two words in
//         different halves stay two loads, whose instructions both belong to the first load's line:
//         where 64 such pairs lie far apart, the kernel has no registers that could hold words
//         loaded ahead. Stores need all bytes, and the last store does them. Only PTX lines without
//         machine instructions are explained this way.
// source  Observed with nvcc 13.0 on all orders of two, three and four words, sm_90.
//         Tested by tests/.
#pragma once

#include "common/ptx/control_flow.hpp"
#include "common/source_map/source_map.hpp"

namespace stepwise::emulator {

// Fills in roles, groups, dropped and thinned of a map whose machine instructions are counted.
// `has_no_frame`: the machine code uses no local memory of its own.
void find_accesses(const ptx::module& m, const ptx::body& body, const control_flow& flow,
                   bool has_no_frame, source_map& out);

}  // namespace stepwise::emulator
