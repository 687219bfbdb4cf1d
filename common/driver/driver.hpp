// The building blocks of driver API functions, which use the runtime in the same process.
//
// idea    libcuda.so.1 has no device of its own. It calls the runtime's public functions or, if
//         they do not suffice, uses the runtime's `call` (common/runtime/api). Both share the
//         records of streams, events, pools and kernels, so a program may mix both APIs.
// watch   The driver keeps no last error. A driver_call hides errors of the calls inside it from
//         cudaGetLastError, and records calls under the driver function's name.
// tests   tests/
#pragma once

// Everything that the toolkit's header declares is exported; the rest of the library is hidden.
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include <source_location>

#include "common/driver/contexts.hpp"
#include "common/runtime/api/api.hpp"

// Exports another name, `text`, for a function that is defined above in the same file under the
// symbol `of`. cuda.h maps most names to versioned names (cuMemAlloc to cuMemAlloc_v2).
#define STEPWISE_ALSO_OF(text, name, of) STEPWISE_ALSO_AS(text, name, of, __COUNTER__)
#define STEPWISE_ALSO_AS(text, name, of, number) STEPWISE_ALSO_NAMED(text, name, of, number)
#define STEPWISE_ALSO_NAMED(text, name, of, number) \
  STEPWISE_EXPORT __typeof__(name) also_##number __asm__(text) __attribute__((alias(of)))
#define STEPWISE_ALSO(text, name) STEPWISE_ALSO_OF(text, name, #name)
// Declares a function whose symbol `text` is a name that cuda.h maps to another. We call it `name`.
#define STEPWISE_NAMED(text, name, ...) STEPWISE_EXPORT CUresult name(__VA_ARGS__) __asm__(text)

namespace stepwise::driver {

// The driver's number for a runtime error. Most numbers are the same.
CUresult result_of(cudaError_t code);
inline CUresult result_of(CUresult code) { return code; }

// Ends a function that the program called, and returns its result. Reports an error to the checks.
CUresult returned(CUresult result) noexcept;

// Runs `body() -> cudaError_t or CUresult`, or returns CUDA_ERROR_NOT_INITIALIZED before cuInit.
template <class Body>
CUresult answer(Body&& body, std::source_location at = std::source_location::current()) noexcept {
  try {
    CUresult result = CUDA_ERROR_NOT_INITIALIZED;
    {
      const runtime::driver_call scope(at.function_name());
      if (contexts::get().is_initialized()) result = result_of(body());
    }
    return returned(result);
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

// Like answer(), but runs `body(context&)` and requires a current context.
template <class Body>
CUresult in_context(Body&& body,
                    std::source_location at = std::source_location::current()) noexcept {
  return answer(
      [&] {
        context* const current = contexts::get().current();
        if (!current) return CUDA_ERROR_INVALID_CONTEXT;
        return result_of(body(*current));
      },
      at);
}

// Like answer(), but requires the number of the only device.
template <class Body>
CUresult of_device(CUdevice device, Body&& body,
                   std::source_location at = std::source_location::current()) noexcept {
  return answer([&] { return device == 0 ? result_of(body()) : CUDA_ERROR_INVALID_DEVICE; }, at);
}

// Conversions between the driver's and the runtime's handles.
inline cudaStream_t per_thread(CUstream stream) { return runtime::per_thread(stream); }
inline void* pointer_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace stepwise::driver
