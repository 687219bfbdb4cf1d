// A filter of system calls for untrusted programs.
//
// idea    Refused is what a computation never needs and what the kernel's known holes were reached
//         through: namespaces, mounts, other processes' memory, kernel modules, keys, io_uring,
//         BPF, sockets other than local ones. All else passes, as in Flatpak's filter: libraries
//         that we do not know (NVIDIA's) run in it, too.
// watch   A list of what is allowed would be tighter, and would end honest programs with every new
//         libc. The filter is a second layer after the namespaces, not the first one.
// Our own, and not libseccomp's: sixty equalities need no compiler, and the library would be one
// more package to install for every clone. Source of numbers and layout: linux/seccomp.h,
// linux/audit.h, seccomp(2).
// Tested by sandbox/tests/sandbox_test.cpp.
#pragma once

#include <string>

namespace stepwise {

enum class processes_are {
  refused,  // threads only
  allowed   // a compiler starts others
};

// The bytes of a classic BPF program, as seccomp and bubblewrap take it. Empty on other machines
// than x86-64.
std::string system_call_filter(processes_are processes);

// The same for a process that has all it needs, and only computes and writes to what is open: what
// is not on this list ends it. Empty on other machines than x86-64.
std::string computation_filter();

// For this process from now on; false with errno. Nothing happens for an empty filter. Only
// async-signal-safe calls.
bool restrict_system_calls(const std::string& filter);

// Does this kernel take filters?
bool has_system_call_filters();

}  // namespace stepwise
