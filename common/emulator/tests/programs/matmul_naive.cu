// Benchmark a: matrix product, one thread per element, 16 x 16 threads per block, n = 256 (or 512).
#include "common/emulator/tests/programs/matmul.hpp"
#include "common/emulator/tests/programs/measure.hpp"

constexpr int block = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

int main(int count, char** arguments) {
  const benchmark_request request(count, arguments);
  if (request.wanted) pin_to_one_core();
  const int n = request.large ? 512 : 256;
  const std::vector<float> a = small_whole_numbers(n, 1), b = small_whole_numbers(n, 2);
  device_array<float> a_on_device(a), b_on_device(b), c(n * n);
  const auto launch = [&] {
    matmul<<<dim3(n / block, n / block), dim3(block, block)>>>(a_on_device.get(), b_on_device.get(),
                                                               c.get(), n);
  };
  launch();
  finish();
  if (compare("matmul_naive", c.values(), exact_product(a, b, n)) != 0) return 1;
  return report_speed("matmul_naive", request, launch);
}
