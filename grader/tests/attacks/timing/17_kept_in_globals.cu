// attack reduction: WRONG, at most 0 points
// remembers answers in __device__ and __constant__ memory, by first elements
//
// It writes the constant memory through its device address, between the launches of calls.
#include <cuda_runtime.h>

#include "labs/reduction/reduction.hpp"

struct entry {
  int n, first, last, sum;
};
__device__ entry kept[64];
__constant__ entry copies[64];

__global__ void add_up(const int* in, int* out, int n, int call) {
  for (int i = 0; i < 64; ++i) {
    for (const entry& e : {kept[i], copies[i]}) {
      if (e.n != 0 && e.first == in[0]) {
        *out = e.sum;
        return;
      }
    }
  }
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
  // It hopes that the next input begins like this one.
  kept[call % 64] = {n, in[0], in[n - 1], sum};
}

__global__ void recall(int* out, int call) { *out = kept[call % 64].sum; }

void reduce(const int* in, int* out, int*, int n) {
  static int calls = 0;
  if (calls < 8) {
    add_up<<<1, 1>>>(in, out, n, calls);
    cudaMemcpyToSymbolAsync(copies, kept, 0, 0, cudaMemcpyDeviceToDevice);
  } else {
    recall<<<1, 1>>>(out, calls);
  }
  ++calls;
}
