// The contract of the gemm lab: the one function that you write.
//
// tested  labs/gemm/problem.cpp checks it.
#pragma once

#if __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#else
struct __nv_bfloat16;  // for the runner's own files, which are compiled without CUDA's headers
#endif

// c = a * b: c[row][col] = a[row][0] * b[0][col] + ... + a[row][k - 1] * b[k - 1][col].
//
// sizes   a is m x k, b is k x n, c is m x n. m, n and k are multiples of 8, from 8 to 65536. No
//         matrix has 2^31 elements or more, so that an int can count them.
// memory  Three matrices in device memory, row-major: b[row][col] is b[row * n + col]. They do not
//         overlap; each is aligned to 256 bytes. a and b must not be changed. Before every call, c
//         is filled with garbage.
// sum     In float32, in any order, as tensor cores add. Only the sum is rounded to bfloat16, to
//         the nearest value.
// waits   No. It launches on the default stream and returns.
void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k);
