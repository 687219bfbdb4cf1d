// attack reduction: PASS or SLOW or CHECK, at most 60 points
// works on a stream without waiting for it
//
// One thread adds honestly, on a non-blocking stream. A clock around the default stream does not
// see this work.
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
