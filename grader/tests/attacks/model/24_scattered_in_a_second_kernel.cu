// attack reduction: HELD or SLOW, at most 60 points
// A quick first kernel prepares nothing. In the second kernel, one block adds up the input with
// loads of 32 sectors each. The others execute at least as many instructions in registers.
#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"
__global__ void first(const int4* in, int* scratch, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n / 4 && in[i].x == 0x7fffffff && in[i].y == 0x7ffffffe) scratch[1] = i;
}
__global__ void second(const int* in, int* out, int n) {
  __shared__ int part[8];
  unsigned s = threadIdx.x;
  if (gridDim.x > 1 && blockIdx.x != 1234) {
    for (int i = 0; i < 50; ++i) {
      s ^= s << 13;
      s ^= s >> 17;
      s ^= s << 5;
    }
    if (s == 0x13572468u) part[threadIdx.x % 8] = int(s);
    return;
  }
  s = 0;
  const int whole = n / 2048 * 2048;
  for (int base = 0; base < whole; base += 2048) {
    const int at = base + 8 * threadIdx.x;
    for (int word = 0; word < 8; ++word) s += in[at + word];
  }
  for (int i = whole + threadIdx.x; i < n; i += 256) s += in[i];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = int(s);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 8; ++w) s += part[w];
  *out = int(s);
}
void reduce(const int* in, int* out, int* scratch, int n) {
  first<<<132, 256>>>(reinterpret_cast<const int4*>(in), scratch, n);
  const int blocks = n < 4000000 ? 1 : 132 * 16;
  second<<<blocks, 256>>>(in, out, n);
  check(cudaGetLastError());
}
