// Benchmark b: matrix product through 16 x 16 tiles in shared memory, n = 256 (or 512).
#include "common/emulator/tests/programs/matmul.hpp"
#include "common/emulator/tests/programs/measure.hpp"

constexpr int tile = 16;

__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < n; start += tile) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

int main(int count, char** arguments) {
  const benchmark_request request(count, arguments);
  if (request.wanted) pin_to_one_core();
  const int n = request.large ? 512 : 256;
  const std::vector<float> a = small_whole_numbers(n, 3), b = small_whole_numbers(n, 4);
  device_array<float> a_on_device(a), b_on_device(b), c(n * n);
  const auto launch = [&] {
    matmul<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(a_on_device.get(), b_on_device.get(),
                                                           c.get(), n);
  };
  launch();
  finish();
  if (compare("matmul_tiled", c.values(), exact_product(a, b, n)) != 0) return 1;
  return report_speed("matmul_tiled", request, launch);
}
