// Each block passes data to the next one, which only sets a flag: the order is transitive.
#include <cuda/atomic>

using word = cuda::atomic<int, cuda::thread_scope_device>;

__global__ void chain(int* data, word* flags, int* out) {
  const int b = blockIdx.x;
  if (b == 0) {
    *data = 5;
  } else {
    while (flags[b - 1].load(cuda::memory_order_acquire) == 0) {
    }
  }
  if (b + 1 < gridDim.x)
    flags[b].store(1, cuda::memory_order_release);
  else
    *out = *data;
}

int main() {
  int *data, *out, host = 0;
  word* flags;
  cudaMalloc(&data, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMalloc(&flags, 5 * sizeof(word));
  cudaMemset(flags, 0, 5 * sizeof(word));
  chain<<<5, 1>>>(data, flags, out);
  cudaMemcpy(&host, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(data);
  cudaFree(out);
  cudaFree(flags);
  return host == 5 ? 0 : 1;
}
