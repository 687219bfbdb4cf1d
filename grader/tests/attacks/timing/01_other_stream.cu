// attack reduction: PASS or SLOW or CHECK, at most 60 points
// works on a stream without waiting for it
//
// The honest sum of one thread, on a non-blocking stream: a clock around the default stream sees
// nothing of it.
#include "labs/reduction/reduction.hpp"

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void reduce(const int* in, int* out, int*, int n) {
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  add_up<<<1, 1, 0, stream>>>(in, out, n);
}
