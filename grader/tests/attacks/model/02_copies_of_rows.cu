// attack reduction: SLOW, at most 60 points
// Copies each half of the input's rows ten times, as a pitched area.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
__global__ void sum(const int* in, int* out, int n) {
  __shared__ int part[8];
  unsigned s = 0;
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) s += in[i];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = int(s);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) s += part[w];
  atomicAdd(out, int(s));
}
void reduce(const int* in, int* out, int* scratch, int n) {
  constexpr size_t row = 1 << 20, half = row / 2;
  const size_t rows = size_t(n) * 4 / row;
  for (int i = 0; rows > 0 && i < 20; ++i)
    check(cudaMemcpy2DAsync(reinterpret_cast<char*>(scratch) + i % 2 * half, row,
                            reinterpret_cast<const char*>(in) + i % 2 * half, row, half, rows,
                            cudaMemcpyDeviceToDevice));
  check(cudaMemsetAsync(out, 0, 4));
  sum<<<1056, 256>>>(in, out, n);
  check(cudaGetLastError());
}
