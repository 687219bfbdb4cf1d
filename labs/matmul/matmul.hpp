// The contract of the matmul lab: the one function that you write.
//
// tested  labs/matmul/problem.cpp checks it; its mutants are in labs/matmul/tests.
#pragma once

// c = a * b: c[row][col] = a[row][0] * b[0][col] + ... + a[row][n - 1] * b[n - 1][col].
//
// n       At least 1, at most 46340, so that an int can count all n * n elements. It need not be a
//         multiple of anything.
// memory  Three matrices of n x n floats in device memory, row-major (m[row][col] is
//         m[row * n + col]), apart from each other, aligned to 256 bytes. a and b are not to be
//         changed; c is filled with garbage before every call.
// sum     In float32 arithmetic, in any order: no half, bfloat16 or TF32, so no tensor cores.
// waits   No. It launches on the default stream and returns.
void matmul(const float* a, const float* b, float* c, int n);
