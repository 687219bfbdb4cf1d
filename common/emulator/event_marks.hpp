// Events of a device whose queue is always empty. Each event has the host's time when it was
// recorded.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "common/device/device.hpp"

namespace stepwise::emulator {

class event_marks {
 public:
  using steady = std::chrono::steady_clock;

  event_handle create() {
    marks_[++last_] = std::nullopt;
    return event_handle{last_};
  }
  status destroy(event_handle event) {
    return marks_.erase(static_cast<std::uint64_t>(event)) == 1 ? status{} : unknown();
  }
  status record(event_handle event) {
    const auto found = marks_.find(static_cast<std::uint64_t>(event));
    if (found == marks_.end()) return unknown();
    found->second = steady::now();
    return {};
  }
  result<float> elapsed_ms(event_handle start, event_handle stop) const {
    const auto a = marks_.find(static_cast<std::uint64_t>(start));
    const auto b = marks_.find(static_cast<std::uint64_t>(stop));
    if (a == marks_.end() || b == marks_.end() || !a->second || !b->second)
      return {error::invalid_resource_handle, "an event that was not recorded"};
    return std::chrono::duration<float, std::milli>(*b->second - *a->second).count();
  }

 private:
  static status unknown() { return {error::invalid_resource_handle, "no such event"}; }

  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::optional<steady::time_point>> marks_;
};

}  // namespace stepwise::emulator
