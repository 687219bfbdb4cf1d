// Benchmark f: sums of tiles; cp.async loads each tile while the previous one is added up.
#include <cuda_pipeline.h>

#include "common/emulator/tests/programs/measure.hpp"

constexpr int tile_threads = 256;

__global__ void sum_tiles(const float4* in, float* out, int n) {
  __shared__ float4 tiles[2][tile_threads];
  const int step = gridDim.x * tile_threads, thread = threadIdx.x;
  int at = blockIdx.x * tile_threads + thread, current = 0;
  float sum = 0;
  __pipeline_memcpy_async(&tiles[0][thread], in + at, sizeof(float4));
  __pipeline_commit();
  for (; at < n; at += step) {
    if (at + step < n)
      __pipeline_memcpy_async(&tiles[current ^ 1][thread], in + at + step, sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float4 v = tiles[current][tile_threads - 1 - thread];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
    current ^= 1;
  }
  atomicAdd(out, sum);
}

int main(int count, char** arguments) {
  const benchmark_request request(count, arguments);
  if (request.wanted) pin_to_one_core();
  constexpr int n = 1 << 20;
  device_array<float4> values(std::vector<float4>(n, float4{0.25f, 0.25f, 0.25f, 0.25f}));
  device_array<float> sum(1);
  const auto launch = [&] {
    check(cudaMemset(sum.get(), 0, sizeof(float)));
    sum_tiles<<<128, tile_threads>>>(values.get(), sum.get(), n);
  };
  launch();
  finish();
  if (compare("sum_async", sum.values(), {float{n}}) != 0) return 1;
  return report_speed("sum_async", request, launch);
}
