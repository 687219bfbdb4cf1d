// Relocatable device code: functions, variables and constants of another file, a function of the
// same name that is static in both, and a pointer to the other file's function.
#include "common/runtime/conformance/call_linked.hpp"

static __device__ __noinline__ int own(int x) { return x + 1; }

__device__ int counter = 5;

__global__ void run(int* out) {
  const int i = threadIdx.x;
  transform f = i % 2 == 0 ? other_pointer : shift;
  out[i] = own(i) + twice(i) + f(i) + other_table[i % 4];
  if (i == 0) count_up();
}

int main() {
  const int n = 64;
  device_array<int> out(n);
  const int factor = 11;
  check(cudaMemcpyToSymbol(other_factor, &factor, sizeof factor));
  run<<<1, n>>>(out.get());
  launch_other(out.get(), n);
  finish();
  std::vector<int> want(n);
  const int table[4] = {7, 70, 700, 7000};
  for (int i = 0; i < n; ++i) {
    const int own = i + 1, twice = 2 * i + 100, shifted = i + (i % 2 == 0 ? 1000 : 2000);
    want[i] = (own + twice + shifted + table[i % 4]) * factor;
  }
  int counted;
  check(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
  return compare("linked device code", out.values(), want) +
                 compare("shared counter", std::vector<int>{counted}, std::vector<int>{6})
             ? 1
             : 0;
}
