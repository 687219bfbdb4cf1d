// The contract of the matmul lab: the one function that you write.
//
// tested  labs/matmul/problem.cpp checks it.
#pragma once

// c = a * b: c[row][col] = a[row][0] * b[0][col] + ... + a[row][n - 1] * b[n - 1][col].
//
// n       n is 1 to 46340, so that an int can count all n * n elements. n need not
//         be a multiple of anything.
// memory  Three matrices of n x n floats in device memory, row-major: m[row][col] is
//         m[row * n + col]. They do not overlap; each is aligned to 256 bytes. a and b must not be
//         changed. Before every call, c is filled with garbage.
// sum     In float32 arithmetic, in any order. No half, bfloat16 or TF32, and so no tensor cores.
// waits   No. It launches on the default stream and returns.
void matmul(const float* a, const float* b, float* c, int n);
