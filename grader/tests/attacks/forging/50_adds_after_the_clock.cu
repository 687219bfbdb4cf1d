// attack reduction: CHECK or WRONG or PROTOCOL, at most 0 points
// defines a cudaEventElapsedTime that adds on the host after the clock has stopped
#include <cuda_runtime.h>

#include <numeric>
#include <vector>

#include "labs/reduction/reduction.hpp"

static const int* from;
static int *to, count;

extern "C" cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  *ms = 0.001f;
  std::vector<unsigned> elements(count);
  cudaMemcpy(elements.data(), from, count * sizeof(int), cudaMemcpyDeviceToHost);
  const unsigned sum = std::accumulate(elements.begin(), elements.end(), 0u);
  return cudaMemcpy(to, &sum, sizeof sum, cudaMemcpyHostToDevice);
}

__global__ void decoy(int* out) { *out = 1; }

void reduce(const int* in, int* out, int*, int n) {
  from = in;
  to = out;
  count = n;
  decoy<<<1, 1>>>(out);
}
