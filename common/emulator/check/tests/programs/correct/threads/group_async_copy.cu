// A block copies together, waits together, and reuses the buffer after a barrier.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

__global__ void sums(const int* x, int* out) {
  __shared__ int tile[64];
  const auto block = cg::this_thread_block();
  int sum = 0;
  for (int t = 0; t < 3; ++t) {
    cg::memcpy_async(block, tile, x + 64 * t, sizeof tile);
    cg::wait(block);
    sum += tile[63 - threadIdx.x];
    block.sync();
  }
  out[threadIdx.x] = sum;
}

int main() {
  int host[192], *x, *out;
  for (int i = 0; i < 192; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<1, 64>>>(x, out);
  cudaMemcpy(host, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return host[63] == 192 ? 0 : 1;
}
