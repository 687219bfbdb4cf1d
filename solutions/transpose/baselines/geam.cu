// transpose baseline: cuBLAS's c = alpha op(a) + beta op(b), with op(a) the transpose and beta 0.
//
// watch   cuBLAS is column-major, so a row-major matrix appears transposed; nothing else changes.
//         The first call creates the library's handle, which takes milliseconds.
// source  cuBLAS documentation, cublas<t>geam.
#include <cublas_v2.h>

#include <stdexcept>

#include "labs/transpose/transpose.hpp"

namespace {

void check_library(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t h = nullptr;
    check_library(cublasCreate(&h));
    return h;
  }();
  return made;
}

}  // namespace

void transpose(const float* in, float* out, int rows, int cols) {
  const float one = 1, zero = 0;
  check_library(cublasSgeam(handle(), CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, cols, &zero,
                            out, rows, out, rows));
}
