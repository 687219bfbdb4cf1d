// The contract of the first lab: the one function that you write.
//
// tested  labs/first/problem.cpp checks it; its mutants are in labs/first/tests.
#pragma once

// Mirrors the picture `in` into `out`: left and right are swapped.
//
//   out[y * width + x] = in[y * width + (width - 1 - x)]
//
// A pixel is a byte, from 0 (black) to 255 (white). The rows follow one another from top to
// bottom. Width and height are 1 to 65535 and need not be a multiple of anything.
// width * height is at most 2^30.
//
// memory  `in` and `out` are arrays in host memory and do not overlap. `in` must not be changed.
//         The function allocates the device memory that it needs, and frees it.
// waits   Yes. When it returns, the picture is in `out`.
// errors  If a CUDA runtime call fails, it throws what check() throws.
void mirror(const unsigned char* in, unsigned char* out, int width, int height);
