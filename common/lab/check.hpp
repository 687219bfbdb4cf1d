// check(): turns a CUDA error code into an exception that names the call's place.
//
// idea    Kernel launches return nothing and API calls return a code that is easily forgotten:
//         `check(cudaGetLastError());` after a launch makes the first failure stop the program
//         where it happened, instead of showing up later as a wrong result.
// watch   A launch is checked before the kernel runs; what goes wrong inside it is reported by a
//         later call that waits, such as cudaDeviceSynchronize().
//         Every .cu includes this file, and five of nvcc's passes read what it includes: <string>
//         and <stdexcept> would take nearly as long as all the rest. check.cpp includes them; a
//         lab's runner contains it, a program of your own links it.
// tested  common/lab/tests/check_test.cpp, what it includes too
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

namespace stepwise {

// Throws cuda_error (common/lab/cuda_error.hpp).
[[noreturn]] void throw_cuda_error(cudaError_t code, const std::source_location& where);

// Does nothing if `code` is cudaSuccess; else throws cuda_error. A lab's runner catches it and
// reports it; in a program of your own it ends the program with the message.
inline void check(cudaError_t code,
                  const std::source_location& where = std::source_location::current()) {
  if (code != cudaSuccess) throw_cuda_error(code, where);
}

}  // namespace stepwise

using stepwise::check;  // host code of a lab writes check(...)
