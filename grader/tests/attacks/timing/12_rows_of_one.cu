// attack reduction: CHECK or WRONG, at most 0 points
// copies the input to the host as a matrix, on its own stream, and adds it there
#include <cuda_runtime.h>

#include <vector>

#include "labs/reduction/reduction.hpp"

__global__ void store(int* out, int sum) { *out = sum; }

void reduce(const int* in, int* out, int*, int n) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  std::vector<unsigned> here(n);
  cudaMemcpy2DAsync(here.data(), sizeof(int), in, sizeof(int), sizeof(int), n,
                    cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  unsigned sum = 0;
  for (const unsigned value : here) sum += value;
  store<<<1, 1>>>(out, static_cast<int>(sum));
}
