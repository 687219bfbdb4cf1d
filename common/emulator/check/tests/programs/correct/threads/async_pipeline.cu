// cuda::pipeline with two stages, shared by the block.
#include <cooperative_groups.h>

#include <cuda/pipeline>

__global__ void sums(const int* x, int* out, int tiles) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int buffer[2][64];
  const auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int i = threadIdx.x;
  int sum = 0;
  for (int t = 0, fetched = 0; t < tiles; ++t) {
    for (; fetched < tiles && fetched < t + 2; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % 2], x + 64 * fetched, 64 * sizeof(int), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += buffer[t % 2][63 - i];
    pipe.consumer_release();
  }
  out[i] = sum;
}

int main() {
  int host[256], *x, *out;
  for (int i = 0; i < 256; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<1, 64>>>(x, out, 4);
  cudaMemcpy(host, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return host[63] == 384 ? 0 : 1;
}
