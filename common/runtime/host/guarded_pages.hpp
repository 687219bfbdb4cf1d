// Guards pages that unfinished work of the device uses. When host code accesses such a page, the
// access is noticed and then continues as if nothing had happened.
//
// idea    The pages are protected between two API calls, so every access raises SIGSEGV. A harmless
//         access runs with the page open for one instruction (a single step), so that the next
//         access is noticed as well. Kernels use the memory through other addresses.
// watch   A system call that is given a protected page fails instead of faulting. Therefore, while
//         pages are protected, we intercept the thread's system calls (Linux: Syscall User
//         Dispatch). A call that is known not to touch such a page is carried out. Any other call
//         lifts the protection until the next API call. Nothing is guarded where Syscall User
//         Dispatch is not available, or where the program has other threads, or handles or blocks
//         the signals that this needs.
// tests   common/emulator/check/tests/programs (host, race_host_*)
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <vector>

#include "common/device/device.hpp"
#include "common/runtime/host/call_stacks.hpp"

namespace stepwise::runtime {

// Functions that judge an access and receive the verdict. All of them are called in the signal
// handler of a fault that was caused by code outside this library.
struct access_judge {
  host_touch (*touches)(device_address at, bool writes) = nullptr;
  void (*was_early)(device_address at, bool writes, const call_stack& from) = nullptr;
  void (*waited_by)(device_address at, bool writes) = nullptr;
  void (*fault_handler)(int, siginfo_t*, void*) = nullptr;  // calls continue_after() first
};

// Called when an API call begins. No access is noticed until guard_pages() is called.
void pause_guard();
// Called when the API call ends. Guards these areas and no others from now on.
void guard_pages(const std::vector<unfinished_area>& areas, const access_judge& judge);
// Makes all guarded memory accessible, before memory is freed and when the program ends.
void lift_guard();
// For the SIGSEGV handler: whether the fault hit a guarded page and the program can continue.
bool continue_after(const siginfo_t& fault, ucontext_t& interrupted);

}  // namespace stepwise::runtime
