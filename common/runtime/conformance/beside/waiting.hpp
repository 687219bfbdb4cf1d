// Kernels that wait for flags, and the flags.
#pragma once

#include "common/runtime/conformance/expect.hpp"

static __global__ void wait_for(volatile int* flag, int value, int* seen) {
  while (*flag != value) {
  }
  __threadfence_system();
  *seen = value;
}
static __global__ void set(volatile int* flag, int value) {
  __threadfence_system();
  *flag = value;
}
static __global__ void twice(int* x) { *x *= 2; }

// On a GPU, loading a kernel at its first launch may wait for running kernels, so load them first.
inline void load_kernels() {
  cudaFuncAttributes a;
  EXPECT(cudaFuncGetAttributes(&a, wait_for), cudaSuccess);
  EXPECT(cudaFuncGetAttributes(&a, set), cudaSuccess);
  EXPECT(cudaFuncGetAttributes(&a, twice), cudaSuccess);
}

inline cudaStream_t make_stream() {
  cudaStream_t s;
  EXPECT(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
  return s;
}

// Expects a query to return cudaErrorNotReady, and clears the last error that it sets.
#define EXPECT_NOT_READY(call)       \
  do {                               \
    EXPECT(call, cudaErrorNotReady); \
    (void)cudaGetLastError();        \
  } while (false)

// Two flags and two results, initially 0, and two numbers in host memory, initially -1.
struct waiting {
  int *flag, *seen;
  int* home;
  waiting() {
    EXPECT(cudaMalloc(&flag, 4 * sizeof(int)), cudaSuccess);
    seen = flag + 2;
    EXPECT(cudaMemset(flag, 0, 4 * sizeof(int)), cudaSuccess);
    EXPECT(cudaMallocHost(&home, 2 * sizeof(int)), cudaSuccess);
    home[0] = home[1] = -1;
    EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  }
  ~waiting() {
    EXPECT(cudaGetLastError(), cudaSuccess);
    EXPECT(cudaFree(flag), cudaSuccess);
    EXPECT(cudaFreeHost(home), cudaSuccess);
  }
  static int value(const int* at) {
    int v = 0;
    EXPECT(cudaMemcpy(&v, at, sizeof v, cudaMemcpyDeviceToHost), cudaSuccess);
    return v;
  }
};
