// Rejects launches that hardware rejects before they run.
//
// idea    All devices use the same rules, so a GPU does not reject a launch that works on the
//         emulator.
// source  an H200 with CUDA 13.0 and driver 580.159.04, queried by
//         common/runtime/tests/query/query.cu on 2026-11-20. It returns cudaErrorInvalidValue for
//         an invalid grid or block. Older runtimes returned cudaErrorInvalidConfiguration.
//         Clusters: an H200, on 2026-11-30.
// tests   tests/rules_test.cpp
#pragma once

#include "common/device/device.hpp"

namespace stepwise {

// source  CUDA C++ Programming Guide, "Thread Block Clusters"; an H200 refuses 17.
inline constexpr std::uint64_t largest_portable_cluster = 8, largest_cluster = 16;

// Success, or the runtime's error for the first rule that the launch violates. The message names
// the kernel, the requested value and the allowed value.
status check_launch(const gpu& model, const kernel_attributes& kernel, const launch_config& config);

// Checks only the rules of check_launch() for clusters.
status check_cluster(const gpu& model, const kernel_attributes& kernel,
                     const launch_config& config);

}  // namespace stepwise
