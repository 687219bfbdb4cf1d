// Which device a program gets. Apart from the rest, so that tests can put their own in its place.
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "common/device/remote/remote_device.hpp"
#include "common/runtime/host/call_stacks.hpp"
#include "common/runtime/state.hpp"

namespace stepwise::runtime {
namespace {

// "4,5": the descriptors of a channel's socket and of its window, which this process inherited.
result<std::unique_ptr<device>> remote_device_at(std::string_view text) {
  int socket = -1, window = -1;
  const char* const end = text.data() + text.size();
  const auto [comma, code] = std::from_chars(text.data(), end, socket);
  if (code != std::errc() || comma == end || *comma != ',' ||
      std::from_chars(comma + 1, end, window).ptr != end || socket < 0 || window < 0)
    return {error::no_device, "STEPWISE_REMOTE_DEVICE: not two numbers of descriptors"};
  std::string why;
  auto made = remote::remote_device::connect(
      {remote::descriptor(socket), remote::descriptor(window), remote::wait_for_ever}, why);
  if (!made) return {error::no_device, why};
  made->set_place_finder([](std::uint64_t origin) {
    const host_place place = place_of_origin(origin);
    return remote::tell_place{origin, place.file, place.text, place.function,
                              static_cast<std::uint32_t>(place.line)};
  });
  return std::unique_ptr<device>(std::move(made));
}

}  // namespace

result<std::unique_ptr<device>> make_process_device() {
  const char* const elsewhere = std::getenv("STEPWISE_REMOTE_DEVICE");
  if (elsewhere != nullptr && *elsewhere != '\0') return remote_device_at(elsewhere);
  const char* const wanted = std::getenv("STEPWISE_GPU");
  const auto model = find_gpu(wanted && *wanted ? wanted : "h200");
  if (!model.ok()) {
    return {error::no_device, "STEPWISE_GPU: " + model.failure().message};
  }
  if (const std::string missing = emulator_lacks(); !missing.empty()) {
    return {error::no_device, "the emulator was built on a CPU with " + missing +
                                  ", which this one lacks: ./lab setup builds it for this machine"};
  }
  return make_emulated_device(*model);
}

}  // namespace stepwise::runtime
