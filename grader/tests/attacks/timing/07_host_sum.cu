// attack reduction: CHECK, at most 0 points
// adds on the host, and hides that behind a kernel that does almost nothing
#include <cuda_runtime.h>

#include <numeric>
#include <vector>

#include "labs/reduction/reduction.hpp"

__global__ void store(int* out, int sum) { *out = sum; }

void reduce(const int* in, int* out, int*, int n) {
  std::vector<unsigned> all(n);
  cudaMemcpy(all.data(), in, n * sizeof(int), cudaMemcpyDeviceToHost);
  store<<<1, 1>>>(out, static_cast<int>(std::accumulate(all.begin(), all.end(), 0u)));
}
