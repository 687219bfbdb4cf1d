// attack reduction: HELD, at most 0 points
// lets CUB add only at the size that is timed, where the program's own kernel would be slow
#include <cub/device/device_reduce.cuh>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

__global__ void add(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void reduce(const int* in, int* out, int*, int n) {
  if (n < 16777216) {
    check(cudaMemsetAsync(out, 0, sizeof *out));
    add<<<264, 256>>>(in, out, n);
    check(cudaGetLastError());
    return;
  }
  std::size_t bytes = 0;
  check(cub::DeviceReduce::Sum(nullptr, bytes, in, out, n));
  void* storage = nullptr;
  check(cudaMalloc(&storage, bytes));
  check(cub::DeviceReduce::Sum(storage, bytes, in, out, n));
  check(cudaFree(storage));
}
