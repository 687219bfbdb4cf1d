// A cuda::atomic with relaxed order does not make other data visible.
#include <cuda/atomic>

using word = cuda::atomic<int, cuda::thread_scope_device>;

__global__ void hand_over(int* data, word* flag, int* out) {
  if (blockIdx.x == 1) {
    *data = 42;  // finding: race writes
    flag->store(1, cuda::memory_order_relaxed);
  } else {
    while (flag->load(cuda::memory_order_relaxed) == 0) {
    }
    *out = *data;  // finding: race reads
  }
}

int main() {
  int *data, *out;
  word* flag;
  cudaMalloc(&data, sizeof(int));  // finding: allocated
  cudaMalloc(&flag, sizeof(word));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(flag, 0, sizeof(word));
  hand_over<<<2, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}
