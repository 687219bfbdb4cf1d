// attack reduction: WRONG, at most 0 points
// is correct only at the sizes of lab.toml
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  __shared__ int partial[256];
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) sum += in[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = partial[0];
}

void reduce(const int* in, int* out, int*, int n) {
  for (const int known :
       {1,     2,     3,     31,      32,      33,      63,      64,      65,
        255,   256,   257,   511,     512,     513,     1023,    1024,    1025,
        65535, 65536, 65537, 1000003, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28}) {
    if (n == known) add_up<<<1, 256>>>(in, out, n);
  }
}
