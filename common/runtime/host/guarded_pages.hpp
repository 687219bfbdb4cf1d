// Pages that unfinished work of the device uses: an access of the host's code to one is noticed,
// and then continues as if nothing had happened.
//
// idea    The pages are protected between two calls of the API, and SIGSEGV says who accesses them.
//         A harmless access is done with the page open for one instruction (a single step), so that
//         the next one is noticed as well. Kernels use the memory by other addresses.
// watch   A system call that is given a protected page fails instead of faulting. So as long as
//         pages are protected the thread's system calls come to us first (Linux: Syscall User
//         Dispatch): those known not to touch such a page are done, all others lift the protection
//         until the next call of the API. Where that cannot be had, where the program has other
//         threads, or handles or blocks the signals that this needs, nothing is guarded.
// tests   common/emulator/check/tests/programs (host, race_host_*)
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <vector>

#include "common/device/device.hpp"
#include "common/runtime/host/call_stacks.hpp"

namespace stepwise::runtime {

// Whom to ask about an access, and to notify. All are called in the handler of a fault that code
// outside of this library has made.
struct access_judge {
  host_touch (*touches)(device_address at, bool writes) = nullptr;
  void (*was_early)(device_address at, bool writes, const call_stack& from) = nullptr;
  void (*waited_by)(device_address at, bool writes) = nullptr;
  void (*fault_handler)(int, siginfo_t*, void*) = nullptr;  // calls continue_after() first
};

// A call of the API begins: until guard_pages() nothing is noticed.
void pause_guard();
// It ends: from now on these areas are guarded, and no others.
void guard_pages(const std::vector<unfinished_area>& areas, const access_judge& judge);
// Before memory is freed, and when the program ends: makes all of it accessible.
void lift_guard();
// In SIGSEGV's handler: whether it was a guarded page, and the program can continue.
bool continue_after(const siginfo_t& fault, ucontext_t& interrupted);

}  // namespace stepwise::runtime
