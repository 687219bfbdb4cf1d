// Runs the device conformance tests on a device that another process serves: the emulated device,
// or this machine's GPU if STEPWISE_CONFORMANCE_OF=gpu.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/device/remote/remote_device.hpp"
#include "common/device/remote/serve.hpp"
#include "common/device/tests/conformance.hpp"
#include "common/testing/skip_case.hpp"

namespace stepwise::conformance {
namespace {

bool of_gpu() {
  const char* const which = std::getenv("STEPWISE_CONFORMANCE_OF");
  return which != nullptr && std::strcmp(which, "gpu") == 0;
}

std::unique_ptr<device> make_served_device(std::string& why) {
  if (of_gpu()) return make_gpu_device(0, why);
  return make_emulated_device(*find_gpu("h200"));
}

[[noreturn]] void serve(remote::server_end end) {
  std::string why;
  if (const auto made = make_served_device(why)) remote::serve_alone(*made, std::move(end));
  _exit(0);
}

}  // namespace

// The child ends when the device's connection is closed; this process does not wait for it.
std::unique_ptr<device> make_device() {
  auto ends = remote::make_channel();
  if (!ends) return nullptr;
  const int window = dup(ends->window.get());
  if (fork() == 0) {
    ends->first.reset();
    serve({std::move(ends->second), std::move(ends->window)});
  }
  ends->second.reset();
  std::string why;
  return remote::remote_device::connect(
      {std::move(ends->first), remote::descriptor(window), remote::wait_for_ever}, why);
}

}  // namespace stepwise::conformance

int main(int argc, char** argv) {
  if (stepwise::conformance::of_gpu()) {
    // A child asks for the GPU, because a process that has used the driver cannot fork a server
    // that uses the driver.
    const pid_t child = fork();
    if (child == 0) {
      std::string why;
      const bool there = stepwise::make_gpu_device(0, why) != nullptr;
      if (!there) std::printf("skipped: %s\n", why.c_str());
      std::fflush(stdout);
      _exit(there ? 0 : 77);
    }
    int how = 0;
    waitpid(child, &how, 0);
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) return 77;
  }
  return stepwise::with_skips(doctest::Context(argc, argv).run());
}
