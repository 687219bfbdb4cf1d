// Host code that accesses memory which is not the host's: the device's own, by a segmentation fault
// in words; and, in a checked program, pinned and managed memory that work still uses which the
// host has not waited for.
//
// idea    The device knows whose the address is, addr2line the line. Neither may be asked in a
//         signal's handler, which may have interrupted anything. So a copy of the process (clone,
//         as fork does) finds the words, and the process dies of the signal as it would have.
//         Accesses to shared memory are noticed by host/guarded_pages.hpp, and continue.
// watch   Faults at other addresses, and what the program does about any, are left as they are. A
//         handler that the program sets later takes the place of ours.
// tests   tests/host_access_test.py; common/emulator/check/tests/programs (host, race_host_*)
#pragma once

namespace stepwise::runtime {

struct state;

// From now on; there is a device.
void watch_host_accesses();

// While a program is checked, a call of the API ends: early accesses are findings until the next.
void guard_unfinished_memory(state& s);

}  // namespace stepwise::runtime
