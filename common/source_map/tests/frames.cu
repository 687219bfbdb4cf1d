// Lines with code of several functions and files; compiled_test.cpp has the expectations.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

__device__ float twice(float x) { return fmaf(x, 2.0f, 1.0f); }

__device__ float four_times(float x) {
  const float y = twice(x);
  return twice(y);
}

__global__ void nested(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = four_times(x);
}

__global__ void library(const int* in, int* out) {
  namespace cg = cooperative_groups;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int x = in[threadIdx.x];
  out[threadIdx.x] = cg::reduce(warp, x, cg::plus<int>());
}

__global__ void loops(const float* in, float* out, int n) {
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
#pragma unroll 1
    for (int j = 0; j < i; ++j) {
      sum += in[j];
    }
    out[i] = sum;
  }
}
