// Refuses launches that hardware refuses before they run.
//
// idea    One rule for every device, so that a launch that works on the emulator is not refused by
//         the GPU.
// source  an H200 with CUDA 13.0 and driver 580.159.04, asked by
//         common/runtime/tests/query/query.cu on 2026-11-20. A grid or block that is no good is
//         cudaErrorInvalidValue there, where older runtimes said cudaErrorInvalidConfiguration.
// tests   tests/rules_test.cpp
#pragma once

#include "common/device/device.hpp"

namespace stepwise {

// Success, or the runtime's error for the first rule that the launch breaks and a sentence that
// names the kernel, what was asked for and what is allowed.
status check_launch(const gpu& model, const kernel_attributes& kernel, const launch_config& config);

}  // namespace stepwise
