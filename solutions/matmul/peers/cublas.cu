// matmul peer: cuBLAS's product in float32. Its default keeps float32: no TF32, no tensor cores.
//
// watch   cuBLAS counts by columns: what it takes for b, times what it takes for a, is c by rows.
//         The first call makes the library's handle, and takes milliseconds.
// source  cuBLAS documentation, cublas<t>gemm.
#include <cublas_v2.h>

#include <stdexcept>

#include "labs/matmul/matmul.hpp"

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

void matmul(const float* a, const float* b, float* c, int n) {
  const float one = 1, zero = 0;
  check_library(
      cublasSgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, n, a, n, &zero, c, n));
}
