// Benchmark d: transpose through 32 x 32 tiles in shared memory, 32 x 8 threads, n = 1024.
#include "common/emulator/tests/programs/measure.hpp"

constexpr int tile = 32;
constexpr int rows_at_once = 8;

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float values[tile][tile + 1];  // an extra column, so that columns use different banks
  int x = blockIdx.x * tile + threadIdx.x;
  int y = blockIdx.y * tile + threadIdx.y;
  for (int row = 0; row < tile; row += rows_at_once) {
    values[threadIdx.y + row][threadIdx.x] = in[(y + row) * n + x];
  }
  __syncthreads();
  x = blockIdx.y * tile + threadIdx.x;
  y = blockIdx.x * tile + threadIdx.y;
  for (int row = 0; row < tile; row += rows_at_once) {
    out[(y + row) * n + x] = values[threadIdx.x][threadIdx.y + row];
  }
}

int main(int count, char** arguments) {
  const benchmark_request request(count, arguments);
  if (request.wanted) pin_to_one_core();
  constexpr int n = 1024;
  std::vector<float> in(n * n), expected(n * n);
  for (int i = 0; i < n * n; ++i) {
    in[i] = static_cast<float>(i);
    expected[i % n * n + i / n] = in[i];
  }
  device_array<float> from(in), to(n * n);
  const auto launch = [&] {
    transpose<<<dim3(n / tile, n / tile), dim3(tile, rows_at_once)>>>(from.get(), to.get(), n);
  };
  launch();
  finish();
  if (compare("transpose_tiled", to.values(), expected) != 0) return 1;
  return report_speed("transpose_tiled", request, launch);
}
