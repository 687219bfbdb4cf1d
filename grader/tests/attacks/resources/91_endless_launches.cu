// attack reduction: TIMEOUT or CHECK or CRASH or MEMORY, at most 0 points
// launches kernels, allocates, and creates events and streams without end, and never waits
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

__global__ void nothing() {}

void reduce(const int*, int*, int*, int) {
  for (;;) {
    nothing<<<1, 1>>>();
    void* byte = nullptr;
    cudaMalloc(&byte, 1);
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventRecord(event);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
  }
}
