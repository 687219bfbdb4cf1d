// Words for a host that follows an address of the device's.
//
// tests   common/runtime/tests/host_access_test.py; for memory that the host shares with kernels:
//         tests/programs (host_*, race_host_*)
#pragma once

#include "common/report/finding.hpp"

namespace stepwise::emulator {

// `object`: what lies there or nearby; of no kind if nothing does. `freed`: it was, before.
finding host_access(const finding_object& object, bool freed, device_address at, bool writes);

// True for addresses of what is a kernel's alone: shared and local memory, parameters, functions.
bool is_kernels_own(device_address at);

}  // namespace stepwise::emulator
