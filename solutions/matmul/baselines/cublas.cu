// matmul baseline: cuBLAS's product in float32. Its default keeps float32: no TF32, no tensor
// cores.
//
// watch   cuBLAS is column-major, so it sees every matrix transposed: b times a in its order is c
//         in ours. The first call creates the library's handle, which takes milliseconds.
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
