// The contract of the reduction lab: the one function that you write.
//
// tested  labs/reduction/problem.cpp checks it; its mutants are in labs/reduction/tests.
#pragma once

#include <cstddef>

// The scratch memory that reduce() may use for n elements, in ints: room for every level of the
// sum's tree, one after the other (n/2 + n/4 + ... + 1, each rounded up), if you add in pairs.
constexpr std::size_t scratch_ints(int n) { return std::size_t(n) + 32; }

// Adds up in[0], ..., in[n - 1] and stores the sum in *out. n is at least 1 and need not be a
// multiple of anything; it may exceed 2^30.
//
// memory  `in` (n ints, not to be changed), `out` (1 int) and `scratch` (scratch_ints(n) ints) lie
//         in device memory, apart from each other, aligned to 256 bytes. Before every call, `out`
//         and `scratch` are filled with garbage.
// sum     Modulo 2^32: a GPU's integer addition wraps around, so the order does not matter.
// waits   No. It launches on the default stream and returns.
void reduce(const int* in, int* out, int* scratch, int n);
