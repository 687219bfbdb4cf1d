// The requests of a program to the runtime, in the order of its calls: data for laying it out in
// time, and the JSON in which it travels there.
//
// idea    The runtime does everything at once and in order, so it can only say what was asked, of
//         which stream, and what waits for what. When each would begin on a GPU is worked out from
//         that (common/timeline).
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
    call,  // nothing below: it only took part in the order of the calls
    kernel,
    copy_to_device,
    copy_to_host,
    copy_on_device,
    fill,
    record,       // marks an event in a stream
    wait_event,   // a stream waits for an event
    host_event,   // the host waits for an event
    host_stream,  // ... for a stream
    host_all,     // ... for all work
    allocate,     // device memory
    release
  };
  kind what = kind::call;
  std::uint64_t call = 0;     // number of the call; several things may be asked by one
  std::string name;           // "cudaMemcpyAsync"
  std::uint64_t stream = 0;   // 0: the legacy default stream
  bool non_blocking = false;  // not ordered with the legacy default stream
  std::uint64_t event = 0;
  std::uint64_t bytes = 0;  // copies and fills
  bool pageable = false;    // a copy from or to memory of the host that is not pinned
  std::string kernel;       // mangled
  extent grid, block;
  std::uint64_t dynamic_shared_bytes = 0;
  // Of a kernel, modelled: what the launch takes (0: not known), and the part of the GPU that its
  // blocks fill.
  double us = 0, fills = 1;
};
const char* name_of(asked::kind k);  // "copy_to_device"

struct asked_list {
  std::vector<asked> all;
  std::uint64_t dropped = 0;  // beyond the most that is kept
};

// One line.
std::string asked_json(const asked_list& list);
// nullopt if it is none (torn, or not ours).
std::optional<asked_list> parse_asked(std::string_view text);

}  // namespace stepwise
