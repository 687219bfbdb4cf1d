// The contract of the launch lab: the one function that you write.
//
// tested  labs/launch/problem.cpp checks it; its mutants are in labs/launch/tests.
#pragma once

// Adds two arrays: z[i] = x[i] + y[i] for i = 0, ..., n - 1.
//
// limits  n is 1 to 2^30 and need not be a multiple of anything. Every index fits in an int, and so
//         does an index plus the number of threads that fill the GPU. But 4 * n may not fit.
// memory  x, y and z (n floats each) lie in device memory and do not overlap; each is aligned
//         to 256 bytes, as cudaMalloc aligns. x and y must not be changed. Before every call,
//         z is filled with garbage.
// waits   No. It launches on the default stream and returns.
void add(const float* x, const float* y, float* z, int n);
