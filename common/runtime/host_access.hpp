// Reports host code that accesses memory which it must not access. For device memory, this explains
// the segmentation fault. In a checked program, it also covers pinned and managed memory that is
// still in use by work that the host has not waited for.
//
// idea    The device identifies the memory, and addr2line the source line. A signal handler may use
//         neither, because it may have interrupted any code. Therefore a copy of the process (made
//         by clone, like fork) reports the access, and the process then dies of the signal as
//         usual. host/guarded_pages.hpp notices accesses to memory that host and device share, and
//         lets them continue.
// watch   Faults at other addresses keep their effect, and so do the program's own handlers. A
//         handler that the program installs later replaces ours.
// tests   tests/host_access_test.py; common/emulator/check/tests/programs (host, race_host_*)
#pragma once

#include <string>

#include "common/report/finding_text.hpp"

namespace stepwise::runtime {

struct state;

// Starts watching. There must be a device.
void watch_host_accesses();

// Called at the end of an API call in a checked program. Until the next API call, early accesses
// are reported as findings.
void guard_unfinished_memory(state& s);

// "at k.cu:21", or "in main()" if the line is unknown.
std::string place_words(const host_place& place, const finding_style& style);

}  // namespace stepwise::runtime
