// Serves a device to its clients until they are gone.
//
// tests   tests/service_test.cpp, common/device/tests/conformance_remote.cpp
#pragma once

#include <span>

#include "common/device/device.hpp"
#include "common/device/remote/channel.hpp"

namespace stepwise::remote {

// An end of a channel, as a server has it.
struct server_end {
  descriptor socket, window;
};

// One client, who may do everything with the device: returns when its end is closed, or when it
// has sent what is no message.
void serve_alone(device& on, server_end program);

// A judge, and the submission of which it asks for calls. Outside of a call the submission's
// messages wait. A malformed one ends the submission's connection; the judge is told when it ends
// the call. Returns when the judge's end is closed, or when the judge sends what is no message.
// `arrays`: the judge's copy of a call's arrays, where its contract wants them in the host's
// memory. `locks`: the judge's window is registered with the device, which then copies from it and
// to it without a detour; for a GPU. `kernels`: the only fat binary that the submission may load;
// empty: any.
void serve_judged(device& on, server_end judge, server_end submission,
                  std::span<std::byte> arrays = {}, bool locks = false,
                  std::vector<std::byte> kernels = {});

}  // namespace stepwise::remote
