// The contract of the scan lab: the one function that you write.
//
// tested  labs/scan/problem.cpp checks it; its mutants are in labs/scan/tests.
#pragma once

#include <cstddef>

// The scratch memory, in words, that scan() may use for n elements. This is a 64-bit word for every
// 128 elements, and 512 more.
constexpr std::size_t scratch_words(int n) { return std::size_t(n) / 64 + 1024; }

// Stores the sums of the first elements: out[i] = in[0] + ... + in[i] for i = 0, ..., n - 1. This
// is the inclusive scan, also called prefix sum. n is at least 1 and need not be a multiple of
// anything; it may exceed 2^30, and an index plus the size of a tile may exceed 2^31.
//
// memory  `in` (n words, must not be changed), `out` (n words) and `scratch` (scratch_words(n)
//         words) lie in device memory and do not overlap; each is aligned to 256 bytes. Before
//         every call, `out` and `scratch` are filled with garbage.
// sum     Modulo 2^32: an unsigned sum wraps, so the order of the additions does not matter.
// waits   No. It launches on the default stream and returns.
void scan(const unsigned* in, unsigned* out, unsigned* scratch, int n);
