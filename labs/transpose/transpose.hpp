// The contract of the transpose lab: the one function that you write.
//
// tested  labs/transpose/problem.cpp checks it; its mutants are in labs/transpose/tests.
#pragma once

// Stores the transpose of `in` in `out`: out[col][row] = in[row][col].
//
// shape   `in` has `rows` rows of `cols` floats, `out` has `cols` rows of `rows` floats, both
//         row-major without gaps: in[row][col] is in[row * cols + col].
// limits  rows and cols are 1 to 1000000, and rows * cols is below 2^31, so every index fits in an
//         int. Neither need be a multiple of anything.
// memory  Both lie in device memory and do not overlap; each is aligned to 256 bytes. `in` must not
//         be changed. Before every call, `out` is filled with garbage.
// waits   No. It launches on the default stream and returns.
void transpose(const float* in, float* out, int rows, int cols);
