// Benchmark e: the sum of 2^23 bf16 values, read in a grid-stride loop.
#include <cuda_bf16.h>

#include "common/emulator/tests/programs/measure.hpp"

__global__ void sum_in_grid_steps(const __nv_bfloat16* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += __bfloat162float(in[i]);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

int main(int count, char** arguments) {
  const benchmark_request request(count, arguments);
  if (request.wanted) pin_to_one_core();
  constexpr int n = 1 << 23;
  device_array<__nv_bfloat16> values(std::vector<__nv_bfloat16>(n, __float2bfloat16(0.5f)));
  device_array<float> sum(1);
  const auto launch = [&] {
    check(cudaMemset(sum.get(), 0, sizeof(float)));
    sum_in_grid_steps<<<132, 512>>>(values.get(), sum.get(), n);
  };
  launch();
  finish();
  if (compare("sum_narrow", sum.values(), {n / 2.0f}) != 0) return 1;
  return report_speed("sum_narrow", request, launch);
}
