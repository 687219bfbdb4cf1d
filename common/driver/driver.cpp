// Converts the runtime's errors to the driver's, and reports errors to the checks.
#include "common/driver/driver.hpp"

#include <mutex>

#include "common/runtime/host/call_stacks.hpp"

namespace stepwise::driver {

CUresult result_of(cudaError_t code) {
  // source  driver_types.h and cuda.h, whose numbers agree except for these
  switch (code) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidNormSetting:
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorMissingConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    default:
      return static_cast<CUresult>(code);
  }
}

CUresult returned(CUresult result) noexcept {
  runtime::state& s = runtime::state::get();
  // Driver functions may call each other. Report only the outermost call.
  if (result == CUDA_SUCCESS || !s.checks || runtime::driver_call::function()) return result;
  try {
    const std::lock_guard guard(s.lock);
    runtime::count_as_own_code(reinterpret_cast<std::uintptr_t>(&returned));
    const char* name = nullptr;
    cuGetErrorName(result, &name);
    s.checks->end_driver_call(static_cast<int>(result), name ? name : "an unknown error");
  } catch (...) {
    // Out of memory. This finding is lost.
  }
  return result;
}

}  // namespace stepwise::driver
