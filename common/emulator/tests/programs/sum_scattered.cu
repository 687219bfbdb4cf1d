// Benchmark g: one thread sums each row of a matrix, so that a warp's lanes access scattered words.
#include "common/emulator/tests/programs/measure.hpp"

constexpr int rows = 4096, cols = 512;

__global__ void sum_rows(const float* in, float* out) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int col = 0; col < cols; ++col) sum += in[row * cols + col];
  out[row] = sum;
}

int main(int count, char** arguments) {
  const benchmark_request request(count, arguments);
  if (request.wanted) pin_to_one_core();
  device_array<float> values(std::vector<float>(rows * cols, 0.5f)), sums(rows);
  const auto launch = [&] { sum_rows<<<rows / 128, 128>>>(values.get(), sums.get()); };
  launch();
  finish();
  if (compare("sum_scattered", sums.values(), std::vector<float>(rows, cols / 2.0f)) != 0) return 1;
  return report_speed("sum_scattered", request, launch);
}
