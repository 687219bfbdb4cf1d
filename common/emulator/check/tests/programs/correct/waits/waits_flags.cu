// The host polls a number in memory that it shares with the GPU. A kernel, a copy or a fill writes
// the number after the work.
#include <cstdlib>

__global__ void add(int* x) { x[threadIdx.x] += 1; }
__global__ void set(int* flag) { *flag = 1; }
__global__ void set_volatile(volatile int* flag) { *flag = 1; }
__global__ void count_blocks(int* x, int* blocks) {
  x[blockIdx.x * 16 + threadIdx.x] += 1;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(blocks, 1);
}
__global__ void add_and_set(int* x, volatile int* flag) {
  x[threadIdx.x] += 1;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}
__global__ void last_block_sets(int* x, int* counter, int* flag) {
  x[blockIdx.x * 16 + threadIdx.x] += 1;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(counter, 1) == gridDim.x - 1) *flag = 1;
}

void poll(const volatile int* flag, int value) {
  while (*flag != value) {
  }
}

int main() {
  int host[32], *x, *one_number, *counter, *flags[3];
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&one_number, sizeof(int));
  cudaMalloc(&counter, sizeof(int));
  cudaMallocHost(&flags[0], 64);
  cudaMallocManaged(&flags[1], 64);
  flags[2] = static_cast<int*>(std::aligned_alloc(4096, 4096));
  cudaHostRegister(flags[2], 4096, cudaHostRegisterMapped);
  cudaStream_t streams[3] = {nullptr};
  cudaStreamCreate(&streams[1]);
  cudaStreamCreateWithFlags(&streams[2], cudaStreamNonBlocking);
  cudaMemset(x, 0, sizeof host);
  set<<<1, 1>>>(one_number);
  cudaDeviceSynchronize();
  for (int* flag : flags) {
    for (int way = 0; way < 7; ++way) {
      for (cudaStream_t s : streams) {
        *flag = 0;
        cudaMemset(counter, 0, sizeof(int));
        cudaDeviceSynchronize();
        if (way < 4) add<<<1, 32, 0, s>>>(x);
        if (way == 0) set<<<1, 1, 0, s>>>(flag);
        if (way == 1) set_volatile<<<1, 1, 0, s>>>(flag);
        if (way == 2) cudaMemcpyAsync(flag, one_number, sizeof(int), cudaMemcpyDefault, s);
        if (way == 3 && flag != flags[2]) cudaMemsetAsync(flag, 1, 1, s);
        if (way == 3 && flag == flags[2]) set<<<1, 1, 0, s>>>(flag);
        if (way == 4) count_blocks<<<2, 16, 0, s>>>(x, flag);
        if (way == 5) add_and_set<<<1, 32, 0, s>>>(x, flag);
        if (way == 6) last_block_sets<<<2, 16, 0, s>>>(x, counter, flag);
        poll(flag, way == 4 ? 2 : 1);
        *flag = 0;
        add<<<1, 32, 0, s == streams[2] ? streams[1] : streams[2]>>>(x);
      }
    }
  }
  cudaDeviceSynchronize();
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaStreamDestroy(streams[1]);
  cudaStreamDestroy(streams[2]);
  cudaFree(x);
  cudaFree(one_number);
  cudaFree(counter);
  cudaFreeHost(flags[0]);
  cudaFree(flags[1]);
  cudaHostUnregister(flags[2]);
  std::free(flags[2]);
  return host[31] == 126 ? 0 : 1;
}
