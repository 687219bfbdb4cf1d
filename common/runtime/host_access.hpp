// Reports host code that accesses memory which it must not access. For device memory, this explains
// the segmentation fault. In a checked program, it also covers pinned and managed memory that is
// still used by work that the host has not waited for.
//
// idea    The device knows whose the address is, addr2line the line. Neither may be asked in a
//         signal's handler, which may have interrupted anything. So a copy of the process (clone,
//         as fork does) finds the words, and the process dies of the signal as it would have.
//         host/guarded_pages.hpp notices accesses to memory that host and device share, and lets
//         them continue.
// watch   Faults at other addresses, and what the program does about any, are left as they are. A
//         handler that the program sets later takes the place of ours.
// tests   tests/host_access_test.py; common/emulator/check/tests/programs (host, race_host_*)
#pragma once

namespace stepwise::runtime {

struct state;

// From now on; there is a device.
void watch_host_accesses();

// For a checked program, at the end of an API call: until the next API call, early accesses are
// findings.
void guard_unfinished_memory(state& s);

}  // namespace stepwise::runtime
