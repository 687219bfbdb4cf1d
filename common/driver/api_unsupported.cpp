// Every function of the real library that ours does not implement. Each prints a message, once, and
// returns CUDA_ERROR_NOT_SUPPORTED.
//
// watch   CUDA's headers are not included here because the functions are defined without
//         parameters. This is safe, because the caller of a C function cleans up the arguments.
// tests   common/runtime/tests/exports_test.py compares the names with the real library's
#include <string>

#include "common/runtime/errors.hpp"

namespace {

int unsupported(const char* name) noexcept {
  using namespace stepwise;
  try {
    runtime::announce(std::string(name) + " is not supported: this driver runs kernels on the CPU");
  } catch (...) {
    // Out of memory. The error code must suffice.
  }
  return static_cast<int>(error::not_supported);
}

}  // namespace

#define STEPWISE_UNSUPPORTED(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return unsupported(#name); }
#include "common/driver/unsupported.inc"  // made from exports.txt
#undef STEPWISE_UNSUPPORTED
