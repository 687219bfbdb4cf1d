// attack launch: CHECK or WRONG, at most 70 points
// Like 81, but only at the sizes that are counted or timed.
#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"

constexpr int floats = 2048, threads = 512;

__global__ void __launch_bounds__(threads)
    add_tiles(const float4* x, const float4* y, float* z, int n) {
  __shared__ alignas(128) float4 tile[threads];
  const int first = blockIdx.x * floats;
  if (first + floats > n) {
    const float *a = reinterpret_cast<const float*>(x), *b = reinterpret_cast<const float*>(y);
    for (int i = first + threadIdx.x; i < n; i += threads) z[i] = a[i] + b[i];
    return;
  }
  const float4 a = x[first / 4 + threadIdx.x], b = y[first / 4 + threadIdx.x];
  tile[threadIdx.x] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 8192;\n"
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group 0;" ::"l"(z + first),
      "r"(unsigned(__cvta_generic_to_shared(tile)))
      : "memory");
}

__global__ void add_each(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

void add(const float* x, const float* y, float* z, int n) {
  if (n < 1000000) {
    add_each<<<ceil_div(n, threads), threads>>>(x, y, z, n);
    return check(cudaGetLastError());
  }
  add_tiles<<<ceil_div(n, floats), threads>>>(reinterpret_cast<const float4*>(x),
                                              reinterpret_cast<const float4*>(y), z, n);
  check(cudaGetLastError());
}
