// Relaxed atomics of all kinds on shared words. The kernel uses only the values that they return.
#include <cuda/atomic>

__global__ void count(int* words, float* sum, unsigned long long* wide, int* order) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_device> next(words[0]);
  order[next.fetch_add(1, cuda::memory_order_relaxed)] = i;
  atomicMax(&words[1], i);
  atomicMin(&words[2], i);
  atomicAdd(sum, 1.0f);
  atomicAdd(wide, 1ull << 33);
  if (cuda::atomic_ref<int, cuda::thread_scope_device>(words[1]).load(cuda::memory_order_relaxed) <
      0)
    atomicExch(&words[3], i);
}

int main() {
  int host[4] = {0, 0, 1000, 0}, *words, *order;
  float* sum;
  unsigned long long* wide;
  cudaMalloc(&words, sizeof host);
  cudaMalloc(&order, 128 * sizeof(int));
  cudaMalloc(&sum, sizeof(float));
  cudaMalloc(&wide, sizeof(unsigned long long));
  cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(sum, 0, sizeof(float));
  cudaMemset(wide, 0, sizeof(unsigned long long));
  count<<<4, 32>>>(words, sum, wide, order);
  cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(words);
  cudaFree(order);
  cudaFree(sum);
  cudaFree(wide);
  return host[0] == 128 && host[1] == 127 && host[2] == 0 && host[3] == 0 ? 0 : 1;
}
