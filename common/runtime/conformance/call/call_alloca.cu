// alloca in kernels: memory whose size every thread chooses, in a loop and in a function.
#include <alloca.h>

#include "common/emulator/tests/programs/program.hpp"

__host__ __device__ __noinline__ int sum_of_squares(int n) {
  int* squares = static_cast<int*>(alloca(n * sizeof(int)));
  for (int k = 0; k < n; ++k) squares[k] = k * k;
  int sum = 0;
  for (int k = n - 1; k >= 0; --k) sum += squares[k];
  return sum;
}

__global__ void run(int* out) {
  const int i = threadIdx.x;
  int* order = static_cast<int*>(alloca((i % 7 + 1) * sizeof(int)));
  for (int k = 0; k <= i % 7; ++k) order[k] = sum_of_squares(i % 7 + k);
  int sum = 0;
  for (int k = 0; k <= i % 7; ++k) sum = sum * 3 + order[k];
  out[i] = sum;
}

int main() {
  const int n = 70;
  device_array<int> out(n);
  run<<<1, n>>>(out.get());
  finish();
  std::vector<int> want(n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k <= i % 7; ++k) want[i] = want[i] * 3 + sum_of_squares(i % 7 + k);
  return compare("alloca", out.values(), want);
}
