// The first sum is correct. Later calls return it again, which takes no time. With SLEEPS every sum
// is correct, and the host sleeps 200 ms before the launch. For judged_speed_test.cpp.
#include <unistd.h>

#include "labs/reduction/reduction.hpp"

__global__ void sum(const int* in, int* out, int n) {
  if (threadIdx.x == 0) *out = 0;
  __syncthreads();
  int mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += in[i];
  atomicAdd(out, mine);
}

__device__ int first;
__global__ void keep(const int* out) { first = *out; }
__global__ void give(int* out) { *out = first; }

void reduce(const int* in, int* out, int*, int n) {
#ifdef SLEEPS
  usleep(200'000);
  sum<<<1, 256>>>(in, out, n);
#else
  static bool is_known = false;
  if (is_known) {
    give<<<1, 1>>>(out);
  } else {
    sum<<<1, 256>>>(in, out, n);
    keep<<<1, 1>>>(out);
  }
  is_known = true;
#endif
}
