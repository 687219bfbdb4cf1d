// A template that is launched from two files, each of which registers its own copy by one name.
#pragma once

#include <cstdio>

template <class T>
__device__ T offset = T(1);  // one variable in each file

template <class T>
__global__ void scale(T* data, int n, T factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * factor + offset<T>;
}

// Kernels without external linkage may have the same name in two files.
namespace {
__global__ void mark(int* place, int value) { *place = value; }
}  // namespace

void scale_elsewhere(float* data, int n, float factor);
void mark_elsewhere(int* place);
const void* scale_of_elsewhere();  // the other host stub of one kernel
