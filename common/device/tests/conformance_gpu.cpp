// Runs the device conformance tests on this machine's GPU.
#include <doctest/doctest.h>

#include <cstdio>

#include "common/device/tests/conformance.hpp"
#include "common/testing/skip_case.hpp"

namespace stepwise::conformance {

std::unique_ptr<device> make_device() {
  std::string why;
  return make_gpu_device(0, why);
}

}  // namespace stepwise::conformance

int main(int argc, char** argv) {
  std::string why;
  if (!stepwise::make_gpu_device(0, why)) {
    std::printf("skipped: %s\n", why.c_str());
    return 77;
  }
  return stepwise::with_skips(doctest::Context(argc, argv).run());
}
