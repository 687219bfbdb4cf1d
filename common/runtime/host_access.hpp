// A host that follows a pointer to device memory: the segmentation fault that it is, in words.
//
// idea    The device knows whose the address is, addr2line the line. Neither may be asked in a
//         signal's handler, which may have interrupted anything. So a copy of the process (clone,
//         as fork does) finds the words, and the process dies of the signal as it would have.
// watch   Faults at other addresses, and what the program does about any, are left as they are. A
//         handler that the program sets later takes the place of ours.
// tests   tests/host_access_test.py
#pragma once

namespace stepwise::runtime {

// From now on; there is a device.
void watch_host_accesses();

}  // namespace stepwise::runtime
