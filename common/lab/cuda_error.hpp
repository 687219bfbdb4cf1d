// cuda_error: the exception that check() throws.
#pragma once

#include <driver_types.h>

#include <source_location>
#include <stdexcept>

namespace stepwise {

// Its what() reads: reduction.cu:34: cudaErrorInvalidValue: invalid argument
class cuda_error : public std::runtime_error {
 public:
  cuda_error(cudaError_t code, const std::source_location& where);

  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

}  // namespace stepwise
