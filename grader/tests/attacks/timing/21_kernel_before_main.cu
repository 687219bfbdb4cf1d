// attack reduction: WRONG or CRASH or TIMEOUT or CHECK or PROTOCOL, at most 0 points
// A static constructor launches a kernel that waits for orders, so no call launches slow work.
//
// The kernel gives up after it has looked two million times.
#include "labs/reduction/reduction.hpp"

struct order {
  const int* in;
  int* out;
  int n;
  int number;  // number of the order; the kernel adds when it changes
};
__device__ volatile order wanted;
__device__ volatile int done;

__global__ void serve() {
  int last = 0;
  for (int looks = 0; looks < 2'000'000; ++looks) {
    if (wanted.number == last) continue;
    __threadfence();
    int sum = 0;
    for (int i = 0; i < wanted.n; ++i) sum += wanted.in[i];
    *wanted.out = sum;
    __threadfence();
    done = last = wanted.number;
  }
}

namespace {
struct starts_early {
  cudaStream_t serves = nullptr, orders = nullptr;
  starts_early() {
    cudaStreamCreateWithFlags(&serves, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&orders, cudaStreamNonBlocking);
    serve<<<1, 1, 0, serves>>>();
  }
} early;
}  // namespace

void reduce(const int* in, int* out, int*, int n) {
  static int number = 0;
  const order mine{in, out, n, ++number};
  cudaMemcpyToSymbolAsync(wanted, &mine, sizeof mine, 0, cudaMemcpyHostToDevice, early.orders);
  cudaStreamSynchronize(early.orders);
}
