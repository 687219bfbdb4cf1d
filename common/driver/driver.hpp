// How a function of the driver API is written: over the runtime's of the same process.
//
// idea    libcuda.so.1 has no device of its own. What the runtime does already is asked of it, by
//         its public functions or, where they do not serve, by its `call` (common/runtime/api).
//         Streams, events, pools and kernels are the same records, so a program may mix both.
// watch   The driver keeps no last error: a driver_call keeps what happens within away from
//         cudaGetLastError, and gives the driver's name to what is recorded.
// tests   tests/
#pragma once

// Everything that the toolkit's header declares is exported; the rest of the library is hidden.
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include <source_location>

#include "common/driver/contexts.hpp"
#include "common/runtime/api/api.hpp"

// cuda.h maps most names to versions of them (cuMemAlloc to cuMemAlloc_v2). A further name, as
// text, of a function that is defined above in the same file under the symbol `of`.
#define STEPWISE_ALSO_OF(text, name, of) STEPWISE_ALSO_AS(text, name, of, __COUNTER__)
#define STEPWISE_ALSO_AS(text, name, of, number) STEPWISE_ALSO_NAMED(text, name, of, number)
#define STEPWISE_ALSO_NAMED(text, name, of, number) \
  STEPWISE_EXPORT __typeof__(name) also_##number __asm__(text) __attribute__((alias(of)))
#define STEPWISE_ALSO(text, name) STEPWISE_ALSO_OF(text, name, #name)
// Declares a function with a name that cuda.h maps to another: `name` is ours, `text` the symbol.
#define STEPWISE_NAMED(text, name, ...) STEPWISE_EXPORT CUresult name(__VA_ARGS__) __asm__(text)

namespace stepwise::driver {

// The driver's number for an error of the runtime's. Most are the same.
CUresult result_of(cudaError_t code);
inline CUresult result_of(CUresult code) { return code; }

// Ends a function that the program called and passes on its result. Checks note an error.
CUresult returned(CUresult result) noexcept;

// Does `body() -> cudaError_t or CUresult`, once cuInit was called: else
// CUDA_ERROR_NOT_INITIALIZED.
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

// The same for a thread that has a current context: `body(context&)`.
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

// The same for the one device's number.
template <class Body>
CUresult of_device(CUdevice device, Body&& body,
                   std::source_location at = std::source_location::current()) noexcept {
  return answer([&] { return device == 0 ? result_of(body()) : CUDA_ERROR_INVALID_DEVICE; }, at);
}

// What the driver's handles are to the runtime.
inline cudaStream_t per_thread(CUstream stream) { return runtime::per_thread(stream); }
inline void* pointer_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace stepwise::driver
