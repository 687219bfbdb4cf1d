// Functions called through pointers: from a table in device memory, from constant memory, and from
// a pointer that the host copied; other functions in neighbouring lanes.
#include "common/emulator/tests/programs/program.hpp"

using operation = float (*)(float, int);

__device__ __noinline__ float plus(float x, int k) { return x + static_cast<float>(k); }
__device__ __noinline__ float times(float x, int k) { return x * static_cast<float>(k); }
__device__ __noinline__ float power(float x, int k) {
  float p = 1;
  for (int n = 0; n < k % 4; ++n) p *= x;
  return p;
}

__device__ operation table[3] = {plus, times, power};
__constant__ operation fixed = times;
__device__ operation entry = power;

__global__ void run(float* out, operation given) {
  const int i = threadIdx.x;
  out[i] = table[i % 3](1.5f, i) + fixed(2.0f, i) + given(0.5f, i);
}

float on_host(int which, float x, int k) {
  if (which == 0) return x + static_cast<float>(k);
  if (which == 1) return x * static_cast<float>(k);
  float p = 1;
  for (int n = 0; n < k % 4; ++n) p *= x;
  return p;
}

int main() {
  const int n = 100;
  operation given;
  check(cudaMemcpyFromSymbol(&given, entry, sizeof given));
  device_array<float> out(n);
  run<<<1, n>>>(out.get(), given);
  finish();
  std::vector<float> want(n);
  for (int i = 0; i < n; ++i)
    want[i] = on_host(i % 3, 1.5f, i) + on_host(1, 2.0f, i) + on_host(2, 0.5f, i);
  return compare("calls through pointers", out.values(), want);
}
