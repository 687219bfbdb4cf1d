// The runtime's answers about the device and about kernels, if they are the same on every H200.
#include "check.h"

__global__ void plain(int* data) { data[threadIdx.x] = 1; }
__global__ void __launch_bounds__(256, 2) shared_memory(float* data) {
  __shared__ float tile[32][33];
  tile[threadIdx.x / 32][threadIdx.x % 32] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[threadIdx.x % 8][threadIdx.x / 8];
}

static void show_kernel(const char* name, const void* kernel) {
  cudaFuncAttributes a;
  SHOW(cudaFuncGetAttributes(&a, kernel));
  std::printf("%s: %d registers, %zu shared, %zu local, at most %d threads, PTX %d, binary %d\n",
              name, a.numRegs, a.sharedSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock,
              a.ptxVersion, a.binaryVersion);
  for (int threads : {32, 96, 128, 256, 512, 1024}) {
    int blocks = -1;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
    std::printf("  %d blocks of %d threads\n", blocks, threads);
  }
}

int main() {
  int count = 0, device = -1, value = 0;
  SHOW(cudaGetDeviceCount(&count));
  PRINT(count > 0);
  SHOW(cudaGetDevice(&device));
  PRINT(device);
  cudaDeviceProp p;
  SHOW(cudaGetDeviceProperties(&p, 0));
  std::printf("%s\n", p.name);
  PRINT(p.major * 10 + p.minor);
  PRINT(p.multiProcessorCount);
  PRINT(p.sharedMemPerBlockOptin);
  PRINT(p.l2CacheSize);
  PRINT(p.maxThreadsPerMultiProcessor);
  SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
  PRINT(value);
  SHOW(cudaRuntimeGetVersion(&value));
  PRINT(value / 1000);
  show_kernel("plain", reinterpret_cast<const void*>(plain));
  show_kernel("shared_memory", reinterpret_cast<const void*>(shared_memory));
  int grid = 0, block = 0;
  SHOW(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain));
  PRINT(grid);
  PRINT(block);
}
