// gemm baseline: cuBLAS's product in bfloat16, with sums in float32.
//
// watch   cuBLAS is column-major, so it sees every matrix transposed: b times a in its order is c
//         in ours. The first call creates the library's handle, which takes milliseconds.
// source  cuBLAS documentation, cublasGemmEx.
#include <cublas_v2.h>

#include <stdexcept>

#include "labs/gemm/gemm.hpp"

namespace {

void check_library(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

}  // namespace

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made{};
    check_library(cublasCreate(&made));
    return made;
  }();
  const float one = 1, zero = 0;
  check_library(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, CUDA_R_16BF, n, a,
                             CUDA_R_16BF, k, &zero, c, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F,
                             CUBLAS_GEMM_DEFAULT));
}
