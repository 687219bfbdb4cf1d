// The contract of the reduction lab: the one function that you write.
//
// tested  labs/reduction/problem.cpp checks it; its mutants are in labs/reduction/tests.
#pragma once

#include <cstddef>

// The scratch memory, in ints, that reduce() may use for n elements. If you add in pairs, it has
// room for every level of the tree, one after the other (n/2 + n/4 + ... + 1, each rounded up).
constexpr std::size_t scratch_ints(int n) { return std::size_t(n) + 32; }

// Adds up in[0], ..., in[n - 1] and stores the sum in *out. n is at least 1 and need not be a
// multiple of anything; it may exceed 2^30.
//
// memory  `in` (n ints, must not be changed), `out` (1 int) and `scratch` (scratch_ints(n) ints)
//         lie in device memory and do not overlap; each is aligned to 256 bytes. Before every call,
//         `out` and `scratch` are filled with garbage.
// sum     Modulo 2^32, so the order of the additions does not matter. In C++ a signed sum that
//         overflows is undefined, and an unsigned sum wraps: add as unsigned, and store the sum
//         as an int.
// waits   No. It launches on the default stream and returns.
void reduce(const int* in, int* out, int* scratch, int n);
