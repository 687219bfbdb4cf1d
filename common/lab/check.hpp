// check(): turns a CUDA error code into an exception that names the source line of the call.
//
// idea    Kernel launches return nothing, and the codes that API calls return are easily ignored.
//         `check(cudaGetLastError());` after a launch stops the program at the first failure,
//         instead of letting it return a wrong result later.
// watch   A launch is checked before the kernel runs. An error inside the kernel is returned by a
//         later call that waits, such as cudaDeviceSynchronize().
//         Every .cu file includes this file, and five of nvcc's passes read what it includes.
//         <string> and <stdexcept> would take nearly as long as all the rest, so only check.cpp
//         includes them. A lab's runner contains check.cpp; your own program must link it.
// tested  common/lab/tests/check_test.cpp, which also checks the includes
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>

namespace stepwise {

// Throws cuda_error (common/lab/cuda_error.hpp).
[[noreturn]] void throw_cuda_error(cudaError_t code, const std::source_location& where);

// Does nothing if `code` is cudaSuccess; otherwise throws cuda_error. A lab's runner catches and
// reports the exception. Your own program ends with its message.
inline void check(cudaError_t code,
                  const std::source_location& where = std::source_location::current()) {
  if (code != cudaSuccess) throw_cuda_error(code, where);
}

}  // namespace stepwise

using stepwise::check;  // host code of a lab writes check(...)
