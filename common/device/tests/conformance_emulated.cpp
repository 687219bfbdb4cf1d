// Runs the device conformance tests on the emulator.
#include <doctest/doctest.h>

#include "common/device/tests/conformance.hpp"

namespace stepwise::conformance {

std::unique_ptr<device> make_device() { return make_emulated_device(*find_gpu("h200")); }

}  // namespace stepwise::conformance
