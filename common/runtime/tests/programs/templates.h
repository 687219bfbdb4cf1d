// A kernel template that two translation units instantiate alike: it is registered twice, by one
// name, with two host stubs.
#pragma once
#include <cuda_runtime.h>

template <class T>
__global__ void scale(T* data, int n, T factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

void scale_in_other_file(int* data, int n);
const void* kernel_of_other_file();
