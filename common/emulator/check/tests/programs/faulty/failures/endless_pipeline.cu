// A pipeline's stages are never released, so its third iteration waits for the first stage.
#include <cooperative_groups.h>

#include <cuda/pipeline>

__global__ void copy(const int* in, int* out, int tiles) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int tile[2][32];
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int n = 0; n < tiles; ++n) {
    // finding: endless poll object=state says=lacks_32_of_32_arrivals
    pipe.producer_acquire();
    cuda::memcpy_async(block, tile[n % 2], in + 32 * n, sizeof tile[0], pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[32 * n + threadIdx.x] = tile[n % 2][threadIdx.x];
  }
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 8 * 32 * sizeof(int));
  cudaMalloc(&out, 8 * 32 * sizeof(int));
  cudaMemset(in, 0, 8 * 32 * sizeof(int));
  copy<<<1, 32>>>(in, out, 8);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
