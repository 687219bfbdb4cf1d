// The host polls words that kernels write: volatile, atomic or plain, with and without a fence.
#include <atomic>

__global__ void publish(volatile int* data, volatile int* flag) {
  data[threadIdx.x] = 7;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}

__global__ void publish_plainly(int* data, int* flag) {
  data[threadIdx.x] = 8;
  if (threadIdx.x == 0) *flag = 2;
}

__global__ void count(int* progress) { atomicAdd_system(progress, 1); }

__global__ void watch(const volatile int* stop, int* seen) { *seen = *stop; }

int main() {
  int *data, *flag, *progress, *device;
  cudaMallocHost(&data, 128);
  cudaHostAlloc(&flag, 8, cudaHostAllocMapped);
  cudaMallocManaged(&progress, 4);
  cudaMalloc(&device, 4);
  *flag = *progress = 0;
  publish<<<1, 32>>>(data, flag);
  while (*static_cast<volatile int*>(flag) != 1) {
  }
  int sum = data[5];
  publish_plainly<<<1, 32>>>(data, flag);
  while (*static_cast<volatile int*>(flag) != 2) {
  }
  sum += data[5];
  count<<<4, 32>>>(progress);
  while (__atomic_load_n(progress, __ATOMIC_ACQUIRE) < 128) {
  }
  watch<<<1, 1>>>(flag, device);
  *flag = 3;  // a kernel that polls it would stop
  // A small copy shows that the earlier work in the stream has ended.
  const int four = 4;
  cudaMemcpyAsync(device, &four, 4, cudaMemcpyHostToDevice);
  cudaMemcpyAsync(flag, device, 4, cudaMemcpyDeviceToHost);
  while (*static_cast<volatile int*>(flag) != 4) {
  }
  cudaDeviceSynchronize();
  cudaFreeHost(data);
  cudaFreeHost(flag);
  cudaFree(progress);
  cudaFree(device);
  return sum == 15 ? 0 : 1;
}
