// The smallest whole program: copies in, a launch, a copy out.
#include "common/emulator/tests/programs/program.hpp"

__global__ void add(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

int main() {
  const int n = 1000;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 0.5f * static_cast<float>(i % 7);
  }
  device_array<float> dx(x), dy(y), dz(n);
  add<<<(n + 255) / 256, 256>>>(dx.get(), dy.get(), dz.get(), n);
  finish();
  std::vector<float> sum(n);
  for (int i = 0; i < n; ++i) sum[i] = x[i] + y[i];
  return compare("vector add", dz.values(), sum);
}
