// Functions that call themselves, to another depth in every lane, with values on the stack.
#include "common/emulator/tests/programs/program.hpp"

__host__ __device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

// Moves the discs of a tower and notes the moves in an order that depends on every one.
__host__ __device__ __noinline__ unsigned hanoi(int discs, int from, int to, unsigned seen) {
  if (discs == 0) return seen;
  const int by = 3 - from - to;
  seen = hanoi(discs - 1, from, by, seen);
  seen = seen * 31 + static_cast<unsigned>(3 * from + to);
  return hanoi(discs - 1, by, to, seen);
}

__global__ void run(int* a, unsigned* h) {
  const int i = threadIdx.x;
  a[i] = ackermann(i % 3, i % 5);
  h[i] = hanoi(i % 8, 0, 2, 7u);
}

int main() {
  const int n = 96;
  check(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
  device_array<int> a(n);
  device_array<unsigned> h(n);
  run<<<1, n>>>(a.get(), h.get());
  finish();
  std::vector<int> want_a(n);
  std::vector<unsigned> want_h(n);
  for (int i = 0; i < n; ++i) {
    want_a[i] = ackermann(i % 3, i % 5);
    want_h[i] = hanoi(i % 8, 0, 2, 7u);
  }
  return compare("ackermann", a.values(), want_a) + compare("hanoi", h.values(), want_h) ? 1 : 0;
}
