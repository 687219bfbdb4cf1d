// The other file of api_templates.cu.
#include "api_templates.hpp"

static __device__ int own = 2000;  // a variable without external linkage, too
static __global__ void add_own(int* place) { *place += own; }

void scale_elsewhere(float* data, int n, float factor) {
  scale<float><<<(n + 31) / 32, 32>>>(data, n, factor);
}

void mark_elsewhere(int* place) {
  mark<<<1, 1>>>(place, 22);
  add_own<<<1, 1>>>(place);
}

const void* scale_of_elsewhere() { return reinterpret_cast<const void*>(&scale<float>); }
