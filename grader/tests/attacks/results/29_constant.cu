// attack reduction: WRONG, at most 0 points
// always stores the same answer
#include "labs/reduction/reduction.hpp"

__global__ void store(int* out) { *out = 0; }

void reduce(const int*, int* out, int*, int) { store<<<1, 1>>>(out); }
