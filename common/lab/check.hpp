// check(): turns a CUDA error code into an exception that names the call's place.
//
// idea    Kernel launches return nothing and API calls return a code that is easily forgotten:
//         `check(cudaGetLastError());` after a launch makes the first failure stop the program
//         where it happened, instead of showing up later as a wrong result.
// watch   A launch is checked before the kernel runs; what goes wrong inside it is reported by a
//         later call that waits, such as cudaDeviceSynchronize().
// tested  common/lab/tests/check_test.cpp
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace stepwise {

// Its what() reads: reduction.cu:34: cudaErrorInvalidValue: invalid argument
class cuda_error : public std::runtime_error {
 public:
  cuda_error(cudaError_t code, const std::source_location& where)
      : std::runtime_error(describe(code, where)), code_(code) {}

  cudaError_t code() const { return code_; }

 private:
  static std::string describe(cudaError_t code, const std::source_location& where) {
    std::string path = where.file_name();
    return path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(where.line()) + ": " +
           cudaGetErrorName(code) + ": " + cudaGetErrorString(code);
  }

  cudaError_t code_;
};

// Does nothing if `code` is cudaSuccess; else throws cuda_error. A lab's runner catches it and
// reports it; in a program of your own it ends the program with the message.
inline void check(cudaError_t code,
                  const std::source_location& where = std::source_location::current()) {
  if (code != cudaSuccess) throw cuda_error(code, where);
}

}  // namespace stepwise

using stepwise::check;  // host code of a lab writes check(...)
