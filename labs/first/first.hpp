// The contract of the first lab: the one function that you write.
//
// tested  labs/first/problem.cpp checks it; its mutants are in labs/first/tests.
#pragma once

// `out` becomes the picture `in` as a mirror shows it, with left and right swapped:
//
//   out[y * width + x] = in[y * width + (width - 1 - x)]
//
// A pixel is a byte, from 0 (black) to 255 (white). The rows follow each other, from the top
// down. Width and height are from 1 to 65535 and need not be a multiple of anything;
// width * height is at most 2^30.
//
// memory  `in` and `out` are arrays in the host's memory, apart from each other, and `in` is not to
//         be changed. The function allocates the device memory that it needs, and frees it.
// waits   Yes: when it returns, the picture is in `out`.
// errors  If a call of the CUDA runtime fails, it throws what check() throws.
void mirror(const unsigned char* in, unsigned char* out, int width, int height);
