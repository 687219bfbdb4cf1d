// The tests that every device passes: conformance.cpp, linked with a file that makes the device.
#pragma once

#include <memory>

#include "common/device/device.hpp"

namespace stepwise::conformance {

// A new device to test. Null only if this process has lost the device and its driver cannot create
// another one.
std::unique_ptr<device> make_device();

}  // namespace stepwise::conformance
