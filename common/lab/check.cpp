// The error path of check(), compiled once here instead of in every .cu file.
#include "common/lab/check.hpp"

#include <string>

#include "common/lab/cuda_error.hpp"

namespace stepwise {
namespace {

std::string describe(cudaError_t code, const std::source_location& where) {
  const std::string path = where.file_name();
  return path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(where.line()) + ": " +
         cudaGetErrorName(code) + ": " + cudaGetErrorString(code);
}

}  // namespace

cuda_error::cuda_error(cudaError_t code, const std::source_location& where)
    : std::runtime_error(describe(code, where)), code_(code) {}

void throw_cuda_error(cudaError_t code, const std::source_location& where) {
  throw cuda_error(code, where);
}

}  // namespace stepwise
