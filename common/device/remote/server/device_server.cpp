// The program that holds the device of a graded submission. Each submission gets a new process.
//
// usage   stepwise-device-server probe
//           Checks the GPU, and overwrites all free memory so that no data is left for the next
//           program. Prints the number of bytes. Exit codes: 0 the GPU works, 3 there is no such
//           device, 4 the GPU does not work.
//         stepwise-device-server JUDGE_SOCKET JUDGE_WINDOW SOCKET WINDOW ARRAYS emulated|gpu
//           Serves inherited descriptors: channels to the judge and the submission, and the memory
//           of a call's host arrays. Exit codes: 0 the judge is gone, 2 bad usage, 3 no device.
// tests   grader/judge/tests/judged_session_test.cpp
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/engine_settings.hpp"
#include "common/device/remote/serve.hpp"

namespace {

using namespace stepwise;

std::unique_ptr<device> make_device(std::string_view kind, std::string& why) {
  if (kind == "gpu") return make_gpu_device(0, why);
  const auto model = find_gpu(engine_settings::from_environment().gpu_or_default());
  if (!model.ok()) {
    why = "STEPWISE_GPU: " + model.failure().message;
    return nullptr;
  }
  if (const std::string missing = emulator_lacks(); !missing.empty()) {
    why = "the emulator was built on a CPU with " + missing +
          ", but this CPU lacks it: run ./lab setup to build it for this machine";
    return nullptr;
  }
  return make_emulated_device(*model);
}

int number_in(std::string_view text) {
  int number = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() ? number : -1;
}

// Allocates in pieces, because the size of the largest free piece is unknown.
int probe(device& on) {
  constexpr std::uint64_t largest = std::uint64_t{4} << 30, smallest = std::uint64_t{2} << 20;
  std::vector<device_address> pieces;
  std::uint64_t total = 0;
  status s;
  for (std::uint64_t bytes = largest; bytes >= smallest && s.ok();) {
    const auto piece = on.allocate(bytes);
    if (!piece.ok()) {
      bytes /= 2;
      continue;
    }
    pieces.push_back(*piece);
    total += bytes;
    s = on.fill(*piece, 0xa5, 1, bytes);
    std::byte last{};
    if (s.ok()) s = on.read(std::span(&last, 1), *piece + bytes - 1);
    if (s.ok() && last != std::byte{0xa5})
      s = {error::launch_failure, "device memory does not keep a byte"};
  }
  for (const device_address piece : pieces) (void)on.free(piece);
  if (s.ok()) s = on.synchronize();
  std::vector<std::byte> mine(std::size_t{1} << 20);
  auto* const registration = on.extras().registration;
  if (s.ok() && registration != nullptr && registration->register_host(mine).ok())
    s = registration->unregister_host(mine.data());
  if (!s.ok() || total == 0) {
    std::fprintf(stderr, "device server: the GPU does not work: %s\n",
                 total == 0 ? "it has no free memory" : s.message.c_str());
    return 4;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(total));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  std::string why;
  if (count == 2 && arguments[1] == std::string_view("probe")) {
    const auto gpu = make_device("gpu", why);
    if (gpu) return probe(*gpu);
    std::fprintf(stderr, "device server: %s\n", why.c_str());
    return 3;
  }
  std::vector<std::byte> kernels;
  if (count == 8) {
    std::ifstream file(arguments[7], std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (bytes.empty()) {
      std::fprintf(stderr, "device server: cannot read %s\n", arguments[7]);
      return 3;
    }
    const auto all = std::as_bytes(std::span(bytes));
    kernels.assign(all.begin(), all.end());
  }
  int given[5] = {-1, -1, -1, -1, -1};
  for (int i = 0; i < 5 && i + 1 < count; ++i) given[i] = number_in(arguments[i + 1]);
  const std::string_view kind = count == 7 || count == 8 ? arguments[6] : "";
  for (const int number : given) {
    if (number >= 0 && (kind == "emulated" || kind == "gpu")) continue;
    std::fprintf(stderr,
                 "usage: %s JUDGE_SOCKET JUDGE_WINDOW SOCKET WINDOW ARRAYS emulated|gpu "
                 "[KERNELS]\n",
                 count > 0 ? arguments[0] : "stepwise-device-server");
    return 2;
  }
  remote::server_end judge{remote::descriptor(given[0]), remote::descriptor(given[1])};
  remote::server_end submission{remote::descriptor(given[2]), remote::descriptor(given[3])};
  const auto made = make_device(kind, why);
  if (!made) {
    std::fprintf(stderr, "device server: %s\n", why.c_str());
    return 3;
  }
  remote::serve_judged(*made, std::move(judge), std::move(submission),
                       remote::mapped_for_good(given[4]), kind == "gpu", std::move(kernels));
  return 0;
}
