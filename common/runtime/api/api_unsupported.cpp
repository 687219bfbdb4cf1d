// Every function of the real library that ours does not implement. Each prints a message, once, and
// returns cudaErrorNotSupported.
//
// watch   CUDA's headers are not included here because the functions are defined without
//         parameters. This is safe, because the caller of a C function cleans up the arguments.
// tests   tests/exports_test.py compares the names with the real library's
#include <string>

#include "common/runtime/errors.hpp"

namespace {

int unsupported(const char* name) noexcept {
  using namespace stepwise;
  try {
    const std::string message =
        std::string(name) + " is not supported: this runtime runs kernels on the CPU";
    runtime::announce(message);
    return runtime::finish({error::not_supported, message});
  } catch (...) {
    return runtime::finish({error::not_supported, ""});
  }
}

}  // namespace

#define STEPWISE_UNSUPPORTED(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return unsupported(#name); }
#include "common/runtime/unsupported.inc"  // made from exports.txt
#undef STEPWISE_UNSUPPORTED
