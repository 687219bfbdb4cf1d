// Describes a host access to a device address.
//
// tests   common/runtime/tests/host_access_test.py; for memory that the host shares with kernels:
//         tests/programs (host_*, race_host_*)
#pragma once

#include "common/report/finding.hpp"

namespace stepwise::emulator {

// `object` lies at or near the address, or is of kind `none`. `freed`: it was freed.
finding host_access(const finding_object& object, bool freed, device_address at, bool writes);

// Whether only kernels can use an address: shared and local memory, parameters, functions.
bool is_kernels_own(device_address at);

}  // namespace stepwise::emulator
