// What of a launch can be refused before it runs, as hardware refuses it.
//
// idea    One rule for every device, so that a launch that works on the emulator is not refused by
//         the GPU.
// tests   tests/launch_check_test.cpp; the numbers were asked of an H200 (tests/answers of the
//         runtime's tests).
#pragma once

#include "common/device/device.hpp"

namespace stepwise {

// Success, or the runtime's error for the first rule that the launch breaks and a sentence that
// names the kernel, what was asked for and what is allowed.
status check_launch(const gpu& model, const kernel_attributes& kernel, const launch_config& config);

}  // namespace stepwise
