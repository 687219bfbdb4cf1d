// attack reduction: CHECK or CRASH or WRONG, at most 0 points
// adds in a host callback of the stream
#include <cuda_runtime.h>

#include <numeric>
#include <vector>

#include "labs/reduction/reduction.hpp"

namespace {
std::vector<unsigned> elements;
unsigned sum;
void add_up(void*) { sum = std::accumulate(elements.begin(), elements.end(), 0u); }
}  // namespace

__global__ void decoy(int* out) { *out = 1; }

void reduce(const int* in, int* out, int*, int n) {
  elements.resize(n);
  decoy<<<1, 1>>>(out);
  cudaMemcpyAsync(elements.data(), in, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaLaunchHostFunc(nullptr, add_up, nullptr);
  cudaMemcpyAsync(out, &sum, sizeof sum, cudaMemcpyHostToDevice);
  cudaDeviceSynchronize();
}
