// A graded submission always gets the device of its device server, no matter which GPU it requests.
// This libcudart.so.13 contains no part of the emulator. Tested by
// grader/cli/tests/judged_cli_test.cpp and grader/tests/attacks_test.cpp.
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "common/device/engine_settings.hpp"
#include "common/device/remote/remote_device.hpp"
#include "common/runtime/host/call_stacks.hpp"
#include "common/runtime/state.hpp"

namespace stepwise::runtime {
namespace {

// `text` is like "4,5": the inherited descriptors of a channel's socket and of its window.
result<std::unique_ptr<device>> remote_device_at(std::string_view text) {
  int socket = -1, window = -1;
  const char* const end = text.data() + text.size();
  const auto [comma, code] = std::from_chars(text.data(), end, socket);
  if (code != std::errc() || comma == end || *comma != ',' ||
      std::from_chars(comma + 1, end, window).ptr != end || socket < 0 || window < 0)
    return {error::no_device, "STEPWISE_REMOTE_DEVICE: expected two descriptor numbers"};
  std::string why;
  auto made = remote::remote_device::connect(
      {remote::descriptor(socket), remote::descriptor(window), remote::wait_for_ever}, why);
  if (!made) return {error::no_device, why};
  made->set_place_finder([](std::uint64_t origin) {
    const host_place place = place_of_origin(origin);
    return remote::give_place{origin, place.file, place.text, place.function,
                              static_cast<std::uint32_t>(place.line)};
  });
  return std::unique_ptr<device>(std::move(made));
}

}  // namespace

result<std::unique_ptr<device>> make_process_device() {
  return remote_device_at(engine_settings::from_environment().remote_device);
}

}  // namespace stepwise::runtime
