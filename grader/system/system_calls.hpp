// A filter of system calls for untrusted programs.
//
// idea    The filter refuses calls that a computation never needs and that known kernel exploits
//         used: namespaces, mounts, other processes' memory, kernel modules, keys, io_uring, BPF,
//         sockets other than local ones. All other calls pass, as in Flatpak's filter, because
//         libraries that we do not know (NVIDIA's) run in it, too.
// watch   An allow-list would be tighter, but would kill honest programs with every new libc. The
//         filter is a second layer after the namespaces, not the first. We do not use libseccomp,
//         because sixty comparisons need no compiler, and every clone would have to install another
//         package. Source of numbers and layout: linux/seccomp.h, linux/audit.h, seccomp(2).
// Tested by sandbox/tests/sandbox_test.cpp.
#pragma once

#include <string>

namespace stepwise {

enum class processes_are {
  refused,  // threads only
  allowed   // a compiler starts other processes
};

// The bytes of a classic BPF program for seccomp and bubblewrap. Empty on machines other than
// x86-64.
std::string system_call_filter(processes_are processes);

// A filter for a process that only computes and writes to open files. Any other call ends the
// process. Empty on machines other than x86-64.
std::string computation_filter();

// Filters this process from now on. Returns false and sets errno on failure. Does nothing for an
// empty filter. Makes only async-signal-safe calls.
bool restrict_system_calls(const std::string& filter);

// Whether this kernel supports filters.
bool has_system_call_filters();

}  // namespace stepwise
