// Release and acquire with block scope, between two blocks.
#include <cuda/atomic>

using word = cuda::atomic<int, cuda::thread_scope_block>;

__global__ void hand_over(int* data, word* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;                                              // finding 1: race writes
    flag->store(1, cuda::memory_order_release);              // finding 2: race writes
  } else if (flag->load(cuda::memory_order_acquire) == 1) {  // finding 2: race reads
    *out = *data;                                            // finding 1: race reads
  }
}

int main() {
  int *data, *out;
  word* flag;
  cudaMalloc(&data, sizeof(int));
  cudaMalloc(&flag, sizeof(word));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(flag, 0, sizeof(word));
  hand_over<<<2, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}
