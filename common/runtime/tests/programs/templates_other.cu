#include "templates.h"

static __device__ int own = 20;  // the other file has one of the same name

__global__ void add_own(int* data) { data[threadIdx.x] += own; }

void scale_in_other_file(int* data, int n) {
  scale<int><<<1, 32>>>(data, n, 3);
  add_own<<<1, n>>>(data);
}

const void* kernel_of_other_file() { return reinterpret_cast<const void*>(&scale<int>); }
