// Whether a kernel that may begin early uses memory before it waits for the preceding work.
//
// tests   ../tests/unfollowed_test.cpp
#pragma once

#include <cstdint>
#include <optional>

#include "common/ptx/control_flow.hpp"

namespace stepwise::emulator {

// The first instruction on some path from the body's start that reaches memory which other grids
// may use, or calls a function, before griddepcontrol.wait. Nothing if there is none.
std::optional<std::uint32_t> access_before_wait(const ptx::body& body, const control_flow& flow);

}  // namespace stepwise::emulator
