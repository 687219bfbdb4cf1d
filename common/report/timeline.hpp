// The requests of a program to the runtime, in the order of its calls, and their JSON. They are the
// input for a timeline.
//
// idea    The runtime does all work at once and in order. It therefore records only the requests,
//         their streams, and their dependencies. From these, common/timeline computes when each
//         request would begin on a GPU.
// tests   tests/timeline_test.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise {

struct asked {
  enum class kind : std::uint8_t {
    call,  // a call without any of the requests below
    kernel,
    copy_to_device,
    copy_to_host,
    copy_on_device,
    fill,
    record,       // marks an event in a stream
    wait_event,   // a stream waits for an event
    host_event,   // the host waits for an event
    host_stream,  // the host waits for a stream
    host_all,     // the host waits for all work
    allocate,     // device memory
    release
  };
  kind what = kind::call;
  std::uint64_t call = 0;     // number of the call, which may make several requests
  std::string name;           // "cudaMemcpyAsync"
  std::uint64_t stream = 0;   // 0: the legacy default stream
  bool non_blocking = false;  // not ordered with the legacy default stream
  std::uint64_t event = 0;
  std::uint64_t bytes = 0;  // copies and fills
  bool pageable = false;    // a copy to or from pageable host memory
  std::string kernel;       // mangled
  extent grid, block;
  std::uint64_t dynamic_shared_bytes = 0;
  // For kernels, from the model: the time of the launch (0: unknown), and the fraction of the GPU
  // that its blocks fill.
  double us = 0, fills = 1;
};
const char* name_of(asked::kind k);  // "copy_to_device"

struct asked_list {
  std::vector<asked> all;
  std::uint64_t dropped = 0;  // requests beyond the limit
};

// The list as one line of JSON.
std::string asked_json(const asked_list& list);
// nullopt if the text is not a list of requests (truncated, or from another program).
std::optional<asked_list> parse_asked(std::string_view text);

}  // namespace stepwise
