// The tests that every device passes: conformance.cpp, linked with a file that makes the device.
#pragma once

#include <memory>

#include "common/device/device.hpp"

namespace stepwise::conformance {

// A fresh device to test; never null once main() has started the tests.
std::unique_ptr<device> make_device();

}  // namespace stepwise::conformance
