// attack reduction: COMPILE, at most 0 points
// has an initialised array of 4 GB
#include "labs/reduction/reduction.hpp"

int giant[1 << 30] = {1};

void reduce(const int*, int* out, int*, int n) { cudaMemcpy(out, &giant[n], 4, cudaMemcpyDefault); }
