// Serves a device to its clients until they are gone.
//
// tests   tests/service_test.cpp, common/device/tests/conformance_remote.cpp
#pragma once

#include <span>

#include "common/device/device.hpp"
#include "common/device/remote/channel.hpp"

namespace stepwise::remote {

// A server's end of a channel.
struct server_end {
  descriptor socket, window;
};

// Serves one client, which may do everything with the device. Returns when the client's end is
// closed or sends a malformed message.
void serve_alone(device& on, server_end program);

// Serves a judge and the submission that it grades. The submission's messages wait outside calls. A
// malformed message ends the submission's connection, which the judge learns from end_call. Returns
// when the judge's end is closed or sends a malformed message.
// `arrays`: the judge's copy of a call's arrays, if its contract has them in host memory. `locks`:
// registers the judge's window with the device (a GPU), which then copies to and from it directly.
// `kernels`: the only fat binary that the submission may load; empty if it may load any.
void serve_judged(device& on, server_end judge, server_end submission,
                  std::span<std::byte> arrays = {}, bool locks = false,
                  std::vector<std::byte> kernels = {});

}  // namespace stepwise::remote
